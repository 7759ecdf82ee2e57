// When an eviction asks a budget, when it goes past it, and what it may not do twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { stageOf } from '../../controllers/engine.fixture.js'
import { ownCall } from '../../controllers/own-call.js'
import { perform } from '../act.js'
import { create } from '../create.js'
import { addressOf, type Engine } from '../engine.js'
import { patch } from '../patch.js'
import { withDefaults } from '../versions.js'
import { evict } from './eviction.js'

interface Play {
  readonly pod: object
  readonly annotations?: { readonly [name: string]: string }
  readonly budget: { readonly spec?: object; readonly status: object }
  readonly gates?: readonly string[]
  /** While hooks are asked. */
  readonly meanwhile?: (setStatus: (status: object) => Promise<unknown>) => Promise<unknown>
}

async function play({ pod: status, annotations = {}, budget, gates = [], meanwhile }: Play) {
  const { engine: stage, catalog } = await stageOf('cluster', systemClock)
  const plain: Engine = { ...stage, gates: (gate) => gates.includes(gate) || stage.gates(gate) }
  const pods = catalog.find('', 'v1', 'pods') as Resource
  const budgets = catalog.find('policy', 'v1', 'poddisruptionbudgets') as Resource
  const place = { namespace: 'n', name: 'p' }
  let isAsked = false
  const setStatus = (next: object): Promise<unknown> =>
    patch(plain, ownCall(plain, { resource: pods, ...place, subresource: 'status' }), {
      type: 'merge',
      patch: { status: next },
      duplicates: [],
    })
  const engine: Engine = {
    ...plain,
    admission: {
      mutate: () => undefined,
      validate: async ({ subresource }) => {
        if (subresource !== 'eviction' || isAsked) return
        isAsked = true
        await meanwhile?.(setStatus)
      },
    },
  }
  const call = ownCall(engine, { resource: pods, ...place, subresource: 'eviction' })
  const podCall = ownCall(plain, { resource: pods, ...place })
  const made = { metadata: { name: 'p', labels: { a: 'b' }, annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await create(plain, podCall, { object: withDefaults(podCall, made as ApiObject) })
  await setStatus(status)
  const budgetCall = ownCall(plain, { resource: budgets, namespace: 'n', name: 'b' })
  const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } }, ...budget.spec }
  await create(plain, budgetCall, { object: { metadata: { name: 'b' }, spec } as ApiObject })
  const observed = { status: { observedGeneration: 1, expectedPods: 1, ...budget.status } }
  await patch(plain, ownCall(plain, { resource: budgets, namespace: 'n', name: 'b', subresource: 'status' }), {
    type: 'merge',
    patch: observed,
    duplicates: [],
  })
  const thrown: unknown = await perform(engine, call, { act: evict, body: { metadata: { name: 'p' } }, catalog }).then(
    () => undefined,
    (error: unknown) => error,
  )
  const left = plain.store.read(addressOf(budgetCall))?.decode(budgets) as { status?: { disruptionsAllowed?: number } } | undefined
  return {
    thrown,
    code: thrown instanceof ApiError ? thrown.status.code : undefined,
    isThere: plain.store.read({ resource: pods, ...place }) !== undefined,
    allowed: left?.status?.disruptionsAllowed,
  }
}

const running = (ready: 'True' | 'False') => ({ phase: 'Running', conditions: [{ type: 'Ready', status: ready }] })
const enough = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 }
const tooFew = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 }

test('a pod that is not ready goes for nothing where the budget has the healthy ones that it wants', async () => {
  const { thrown, allowed } = await play({ pod: running('False'), budget: { status: { ...enough, disruptionsAllowed: 3 } } })
  assert.deepEqual([thrown, allowed], [undefined, 3])
  assert.deepEqual((await play({ pod: running('False'), budget: { status: enough } })).thrown, undefined)
  assert.equal((await play({ pod: running('True'), budget: { status: enough } })).code, 429)
  assert.equal((await play({ pod: running('False'), budget: { status: tooFew } })).code, 429)
  assert.equal((await play({ pod: running('False'), budget: { status: { ...tooFew, desiredHealthy: 0 } } })).code, 429)
})

test('a budget may say that pods that are not ready always may go', async () => {
  const budget = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, status: tooFew }
  const gates = ['PDBUnhealthyPodEvictionPolicy']
  assert.equal((await play({ pod: running('False'), budget, gates })).thrown, undefined)
  assert.equal((await play({ pod: running('True'), budget, gates })).code, 429)
})

test('a pod that began to run while hooks were asked has its budget', async () => {
  const meanwhile = (setStatus: (status: object) => Promise<unknown>) => setStatus(running('True'))
  const { code, isThere } = await play({ pod: { phase: 'Pending' }, budget: { status: enough }, meanwhile })
  assert.deepEqual([code, isThere], [429, true])
})
