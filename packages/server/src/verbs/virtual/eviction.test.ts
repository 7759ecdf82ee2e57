// Evictions: when a PodDisruptionBudget is charged, and when it is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { createTestEngine } from '../../controllers/framework/engine.fixture.js'
import { internalCall } from '../../controllers/framework/internal-call.js'
import { create } from '../create.js'
import { addressOf, type Engine } from '../engine.js'
import { patch } from '../patch.js'
import { withDefaults } from '../version-conversion.js'
import { evict } from './eviction.js'
import { performAction } from './virtual-requests.js'

interface EvictionScenario {
  readonly pod: object
  readonly annotations?: { readonly [name: string]: string }
  readonly budget: { readonly spec?: object; readonly status: object }
  readonly gates?: readonly string[]
  readonly duringAdmission?: (setStatus: (status: object) => Promise<unknown>) => Promise<unknown>
}

async function evictPod({ pod: status, annotations = {}, budget, gates = [], duringAdmission }: EvictionScenario) {
  const { engine: testEngine, catalog } = await createTestEngine('cluster', systemClock)
  const base: Engine = { ...testEngine, gates: (gate) => gates.includes(gate) || testEngine.gates(gate) }
  const pods = catalog.find('', 'v1', 'pods') as Resource
  const budgets = catalog.find('policy', 'v1', 'poddisruptionbudgets') as Resource
  const podAddress = { namespace: 'n', name: 'p' }
  let hasRun = false
  const setStatus = (next: object): Promise<unknown> =>
    patch(base, internalCall(base, { resource: pods, ...podAddress, subresource: 'status' }), {
      type: 'merge',
      patch: { status: next },
      duplicates: [],
    })
  const engine: Engine = {
    ...base,
    admission: {
      mutate: async () => undefined,
      validate: async ({ subresource }) => {
        if (subresource !== 'eviction' || hasRun) return
        hasRun = true
        await duringAdmission?.(setStatus)
      },
    },
  }
  const call = internalCall(engine, { resource: pods, ...podAddress, subresource: 'eviction' })
  const podCall = internalCall(base, { resource: pods, ...podAddress })
  const object = { metadata: { name: 'p', labels: { a: 'b' }, annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await create(base, podCall, { object: withDefaults(podCall, object as ApiObject) })
  await setStatus(status)
  const budgetCall = internalCall(base, { resource: budgets, namespace: 'n', name: 'b' })
  const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } }, ...budget.spec }
  await create(base, budgetCall, { object: { metadata: { name: 'b' }, spec } as ApiObject })
  const budgetStatus = { status: { observedGeneration: 1, expectedPods: 1, ...budget.status } }
  await patch(base, internalCall(base, { resource: budgets, namespace: 'n', name: 'b', subresource: 'status' }), {
    type: 'merge',
    patch: budgetStatus,
    duplicates: [],
  })
  const thrown: unknown = await performAction(engine, call, { action: evict, body: { metadata: { name: 'p' } }, catalog }).then(
    () => undefined,
    (error: unknown) => error,
  )
  const budgetAfter = base.store.read(addressOf(budgetCall))?.decode(budgets) as { status?: { disruptionsAllowed?: number } } | undefined
  return {
    thrown,
    code: thrown instanceof ApiError ? thrown.status.code : undefined,
    podExists: base.store.read({ resource: pods, ...podAddress }) !== undefined,
    allowed: budgetAfter?.status?.disruptionsAllowed,
  }
}

const running = (ready: 'True' | 'False') => ({ phase: 'Running', conditions: [{ type: 'Ready', status: ready }] })
const enough = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 }
const tooFew = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 }

test('an unready pod is evicted without charge if the budget has enough healthy pods', async () => {
  const { thrown, allowed } = await evictPod({ pod: running('False'), budget: { status: { ...enough, disruptionsAllowed: 3 } } })
  assert.deepEqual([thrown, allowed], [undefined, 3])
  assert.deepEqual((await evictPod({ pod: running('False'), budget: { status: enough } })).thrown, undefined)
  assert.equal((await evictPod({ pod: running('True'), budget: { status: enough } })).code, 429)
  assert.equal((await evictPod({ pod: running('False'), budget: { status: tooFew } })).code, 429)
  assert.equal((await evictPod({ pod: running('False'), budget: { status: { ...tooFew, desiredHealthy: 0 } } })).code, 429)
})

test('unhealthyPodEvictionPolicy AlwaysAllow evicts unready pods', async () => {
  const budget = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, status: tooFew }
  const gates = ['PDBUnhealthyPodEvictionPolicy']
  assert.equal((await evictPod({ pod: running('False'), budget, gates })).thrown, undefined)
  assert.equal((await evictPod({ pod: running('True'), budget, gates })).code, 429)
})

test('a pod that started to run during admission is charged to its budget', async () => {
  const duringAdmission = (setStatus: (status: object) => Promise<unknown>) => setStatus(running('True'))
  const { code, podExists } = await evictPod({ pod: { phase: 'Pending' }, budget: { status: enough }, duringAdmission })
  assert.deepEqual([code, podExists], [429, true])
})
