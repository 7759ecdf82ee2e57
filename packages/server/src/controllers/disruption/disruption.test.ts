// What a budget allows: from its pods, and from what their controllers shall keep, whatever kind those are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import { silentLogger } from '../../base/logger.js'
import { customKind } from '../../resources/apiextensions/custom/custom-kind.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'
import type { PodDisruptionBudget } from '../../resources/policy/v1.schema.js'
import { stageOf } from '../engine.fixture.js'
import { FakeTimers, flushTurns } from '../kit/timers.fixture.js'
import { RawObjects } from '../raw-objects.fixture.js'
import { disruptionBudgets } from './disruption.js'

const beginMs = Date.parse('2026-01-01T00:00:00Z')
const selector = { matchLabels: { app: 'a' } }

async function setUp() {
  const timers = new FakeTimers()
  const stage = await stageOf('cluster', { now: () => beginMs + timers.now() })
  const of = (group: string, name: string): RawObjects => new RawObjects(stage, stage.catalog.find(group, 'v1', name) as Resource)
  const budgets = of('policy', 'poddisruptionbudgets')
  const pods = of('', 'pods')
  const makePod = (name: string, { controller, isReady = true, ...more }: PodWords = {}): Promise<void> =>
    pods.put({
      metadata: {
        name,
        labels: { app: 'a' },
        ...(controller && { ownerReferences: [{ apiVersion: 'apps/v1', name: 'o', controller: true, ...controller }] }),
        ...more,
      },
      status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
    })
  const loop = disruptionBudgets({ ...stage, logger: silentLogger, timers })
  const status = async (): Promise<NonNullable<PodDisruptionBudget['status']>> => {
    await timers.advance(1000)
    await flushTurns()
    return budgets.read<PodDisruptionBudget>('b')?.status ?? {}
  }
  return { stage, timers, budgets, pods, makePod, loop, status, sets: of('apps', 'replicasets'), of }
}

interface PodWords {
  readonly controller?: { readonly kind: string; readonly uid: string; readonly name?: string; readonly apiVersion?: string }
  readonly isReady?: boolean
  readonly deletionTimestamp?: string
}

const counts = ({ expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed }: NonNullable<PodDisruptionBudget['status']>) => [
  expectedPods,
  currentHealthy,
  desiredHealthy,
  disruptionsAllowed,
]

const ofSet: PodWords = { controller: { kind: 'ReplicaSet', uid: 'set' } }

for (const { title, spec, pods, expect, reason } of [
  { title: 'two of three', spec: { minAvailable: 2 }, pods: [{}, {}, {}], expect: [3, 3, 2, 1], reason: 'SufficientPods' },
  {
    title: 'one is not ready',
    spec: { minAvailable: 2 },
    pods: [{}, {}, { isReady: false }],
    expect: [3, 2, 2, 0],
    reason: 'InsufficientPods',
  },
  {
    title: 'one is going',
    spec: { minAvailable: 1 },
    pods: [{}, { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    expect: [2, 1, 1, 0],
    reason: 'InsufficientPods',
  },
  { title: 'nobody', spec: { minAvailable: 0 }, pods: [], expect: [0, 0, 0, 0], reason: 'InsufficientPods' },
  {
    title: 'a part of what shall be, rounded up',
    spec: { minAvailable: '50%' },
    pods: [ofSet, ofSet, ofSet],
    expect: [5, 3, 3, 0],
    reason: 'InsufficientPods',
  },
  {
    title: 'at most so many less',
    spec: { maxUnavailable: 3 },
    pods: [ofSet, ofSet, ofSet],
    expect: [5, 3, 2, 1],
    reason: 'SufficientPods',
  },
  {
    title: 'at most such a part less',
    spec: { maxUnavailable: '30%' },
    pods: [ofSet, ofSet, ofSet, ofSet],
    expect: [5, 4, 3, 1],
    reason: 'SufficientPods',
  },
]) {
  test(`a budget: ${title}`, async () => {
    const { budgets, makePod, loop, status, sets } = await setUp()
    await sets.put({ metadata: { name: 'o', uid: 'set' }, spec: { replicas: 5 } })
    for (const [i, pod] of pods.entries()) await makePod(`p${i}`, pod)
    await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, ...spec } })
    const found = await status()
    assert.deepEqual(counts(found), expect)
    assert.equal(found.observedGeneration, 1)
    assert.deepEqual(
      found.conditions?.map(({ type, reason: why }) => [type, why]),
      [['DisruptionAllowed', reason]],
    )
    await loop.close()
  })
}

test('the deployment behind a replica set is asked', async () => {
  const { budgets, makePod, loop, status, sets, of } = await setUp()
  await of('apps', 'deployments').put({ metadata: { name: 'd', uid: 'deployment' }, spec: { replicas: 10 } })
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'deployment', controller: true }]
  for (const name of ['one', 'two']) await sets.put({ metadata: { name, uid: name, ownerReferences }, spec: { replicas: 4 } })
  await makePod('p', { controller: { kind: 'ReplicaSet', name: 'one', uid: 'one' } })
  await makePod('q', { controller: { kind: 'ReplicaSet', name: 'two', uid: 'two' } })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 9 } })
  assert.deepEqual(counts(await status()), [10, 2, 1, 1])
  await loop.close()
})

test('a custom kind with a scale is asked, too', async () => {
  const { stage, budgets, makePod, loop, status } = await setUp()
  const names = { plural: 'fleets', singular: 'fleet', kind: 'Fleet', listKind: 'FleetList' }
  const definition = {
    metadata: { name: 'fleets.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { ships: { type: 'integer' } } } } },
          },
          subresources: { scale: { specReplicasPath: '.spec.ships', statusReplicasPath: '.status.ships' } },
        },
      ],
    },
    status: { acceptedNames: names },
  } as CustomResourceDefinition
  const catalog = stage.catalogs.change({ put: [customKind(definition)] })
  const fleets = new RawObjects(stage, catalog.find('example.com', 'v1', 'fleets') as Resource)
  await fleets.put({ metadata: { name: 'f', uid: 'fleet' }, spec: { ships: 4 } })
  for (const name of ['p', 'q', 'r'])
    await makePod(name, { controller: { apiVersion: 'example.com/v1', kind: 'Fleet', name: 'f', uid: 'fleet' } })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: '50%' } })
  assert.deepEqual(counts(await status()), [4, 3, 2, 1])
  await loop.close()
})

for (const { title, controller, message } of [
  {
    title: 'a controller without a scale',
    controller: { kind: 'DaemonSet', uid: 'daemon' },
    message: 'daemonsets.apps does not implement the scale subresource',
  },
  { title: 'a controller that is gone', controller: { kind: 'ReplicaSet', uid: 'gone' }, message: 'found no controllers for pod "p"' },
  {
    title: 'a controller of a kind that nobody serves',
    controller: { kind: 'Unknown', uid: 'x', apiVersion: 'example.com/v1' },
    message: 'no matches for kind "Unknown" in version "example.com/v1"',
  },
]) {
  test(`nothing is allowed where it cannot be counted: ${title}`, async () => {
    const { budgets, makePod, loop, status, of } = await setUp()
    await of('apps', 'daemonsets').put({ metadata: { name: 'o', uid: 'daemon' } })
    await makePod('p', { controller })
    await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 1 } })
    const { disruptionsAllowed, conditions } = await status()
    assert.equal(disruptionsAllowed, 0)
    assert.deepEqual(
      conditions?.map((condition) => [condition.status, condition.reason, condition.message]),
      [['False', 'SyncFailed', message]],
    )
    await loop.close()
  })
}

test('pods that come, change and go are counted, and nothing is written when nothing is new', async () => {
  const { stage, budgets, pods, makePod, loop, status } = await setUp()
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, minAvailable: 1 } })
  assert.deepEqual(counts(await status()), [0, 0, 1, 0])
  for (const name of ['p', 'q']) await makePod(name)
  assert.deepEqual(counts(await status()), [2, 2, 1, 1])
  await makePod('q', { isReady: false })
  assert.deepEqual(counts(await status()), [2, 1, 1, 0])
  await pods.remove('q')
  assert.deepEqual(counts(await status()), [1, 1, 1, 0])
  const { revision } = stage.engine.store
  await pods.put({ metadata: { name: 'other' } })
  await status()
  assert.equal(stage.engine.store.revision, revision + 1)
  await loop.close()
})

test('an evicted pod does not count while it has time to go; afterwards it does', async () => {
  const { timers, budgets, makePod, loop, status } = await setUp()
  for (const name of ['p', 'q', 'r']) await makePod(name)
  const disruptedPods = { p: '2026-01-01T00:00:00Z', gone: '2026-01-01T00:00:00Z' }
  const spec = { selector, minAvailable: 1 }
  const before = { disruptedPods, disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 }
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec, status: before })
  const found = await status()
  assert.deepEqual(counts(found), [3, 2, 1, 1])
  assert.deepEqual(Object.keys(found.disruptedPods ?? {}), ['p'])
  await timers.advance(125_000)
  const later = await status()
  assert.deepEqual(counts(later), [3, 3, 1, 2])
  assert.equal(later.disruptedPods, undefined)
  await loop.close()
})

test('a pod may have a name that every object of the language knows', async () => {
  const { budgets, makePod, loop, status } = await setUp()
  for (const name of ['constructor', 'q']) await makePod(name)
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, minAvailable: 1 } })
  assert.deepEqual(counts(await status()), [2, 2, 1, 1])
  await loop.close()
})

test('a number in a status that JSON cannot say keeps neither this budget nor those behind it from being counted', async () => {
  const { budgets, makePod, loop, status } = await setUp()
  const zeros = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const odd = { status: { ...zeros, observedGeneration: 9007199254740993n } }
  await budgets.put({ metadata: { name: 'a', generation: 1 }, spec: { minAvailable: 1, selector }, ...odd })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { minAvailable: 1, selector } })
  await status()
  for (const name of ['p', 'q', 'r']) await makePod(name)
  assert.deepEqual(counts(await status()), [3, 3, 1, 2])
  assert.deepEqual(counts(budgets.read<PodDisruptionBudget>('a')?.status ?? {}), [3, 3, 1, 2])
  await loop.close()
})
