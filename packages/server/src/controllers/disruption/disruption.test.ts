// Status of disruption budgets: counts, scales of controllers, failures, evicted pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { customKind } from '@cluster-apiserver/api/resources/apiextensions/custom-resource/custom-kind.js'
import type { CustomResourceDefinition } from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'
import type { Event, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { PodDisruptionBudget } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { RawObjects } from '../framework/raw-objects.fixture.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import { readAll } from '../workloads/kit/workload-parts.js'
import { disruptionBudgets } from './disruption.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const selector = { matchLabels: { app: 'a' } }

async function setUp() {
  const timers = new FakeTimers()
  const testEngine = await createTestEngine('cluster', { now: () => startMs + timers.now() })
  const rawObjects = (group: string, name: string): RawObjects =>
    new RawObjects(testEngine, testEngine.catalog.find(group, 'v1', name) as Resource)
  const budgets = rawObjects('policy', 'poddisruptionbudgets')
  const pods = rawObjects('', 'pods')
  const createPod = (name: string, { controller: owner, isReady = true, target = false, ...more }: PodOptions = {}): Promise<void> =>
    pods.put({
      metadata: {
        name,
        labels: { app: 'a' },
        ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', name: 'o', controller: true, ...owner }] }),
        ...more,
      },
      status: {
        conditions: [
          { type: 'Ready', status: isReady ? 'True' : 'False' },
          { type: 'DisruptionTarget', status: target ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
      },
    })
  const controller = disruptionBudgets({ ...testEngine, logger: silentLogger, timers }, 0)
  const status = async (): Promise<NonNullable<PodDisruptionBudget['status']>> => {
    await timers.advance(1000)
    await flushTurns()
    return budgets.read<PodDisruptionBudget>('b')?.status ?? {}
  }
  return { testEngine, timers, budgets, pods, createPod, controller, status, sets: rawObjects('apps', 'replicasets'), rawObjects }
}

interface PodOptions {
  readonly controller?: { readonly kind: string; readonly uid: string; readonly name?: string; readonly apiVersion?: string }
  readonly isReady?: boolean
  readonly target?: boolean
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

const counts = ({ expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed }: NonNullable<PodDisruptionBudget['status']>) => [
  expectedPods,
  currentHealthy,
  desiredHealthy,
  disruptionsAllowed,
]

const ofReplicaSet: PodOptions = { controller: { kind: 'ReplicaSet', uid: 'set' } }

for (const { title, spec, pods, expect, reason } of [
  { title: 'all pods are healthy', spec: { minAvailable: 2 }, pods: [{}, {}, {}], expect: [3, 3, 2, 1], reason: 'SufficientPods' },
  {
    title: 'one pod is not ready',
    spec: { minAvailable: 2 },
    pods: [{}, {}, { isReady: false }],
    expect: [3, 2, 2, 0],
    reason: 'InsufficientPods',
  },
  {
    title: 'one pod is terminating',
    spec: { minAvailable: 1 },
    pods: [{}, { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    expect: [2, 1, 1, 0],
    reason: 'InsufficientPods',
  },
  { title: 'no pods', spec: { minAvailable: 0 }, pods: [], expect: [0, 0, 0, 0], reason: 'InsufficientPods' },
  {
    title: 'minAvailable in percent of the scale, rounded up',
    spec: { minAvailable: '50%' },
    pods: [ofReplicaSet, ofReplicaSet, ofReplicaSet],
    expect: [5, 3, 3, 0],
    reason: 'InsufficientPods',
  },
  {
    title: 'maxUnavailable as a number',
    spec: { maxUnavailable: 3 },
    pods: [ofReplicaSet, ofReplicaSet, ofReplicaSet],
    expect: [5, 3, 2, 1],
    reason: 'SufficientPods',
  },
  {
    title: 'maxUnavailable in percent',
    spec: { maxUnavailable: '30%' },
    pods: [ofReplicaSet, ofReplicaSet, ofReplicaSet, ofReplicaSet],
    expect: [5, 4, 3, 1],
    reason: 'SufficientPods',
  },
]) {
  test(`status of a budget: ${title}`, async () => {
    const { budgets, createPod, controller, status, sets } = await setUp()
    await sets.put({ metadata: { name: 'o', uid: 'set' }, spec: { replicas: 5 } })
    for (const [i, pod] of pods.entries()) await createPod(`p${i}`, pod)
    await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, ...spec } })
    const found = await status()
    assert.deepEqual(counts(found), expect)
    assert.equal(found.observedGeneration, 1)
    assert.deepEqual(
      found.conditions?.map(({ type, reason: actual }) => [type, actual]),
      [['DisruptionAllowed', reason]],
    )
    await controller.close()
  })
}

test('a budget is counted at once, before its pods exist; a later failure keeps the generation', async () => {
  const { budgets, createPod, controller, status, timers } = await setUp()
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 1 } })
  await timers.advance(0)
  await flushTurns()
  assert.equal(budgets.read<PodDisruptionBudget>('b')?.status?.conditions?.[0]?.reason, 'InsufficientPods')
  await createPod('p', { controller: { kind: 'DaemonSet', uid: 'daemon' } })
  const { observedGeneration, conditions } = await status()
  assert.deepEqual([observedGeneration, conditions?.[0]?.reason, conditions?.[0]?.observedGeneration], [1, 'SyncFailed', 1])
  await controller.close()
})

test('pods without a controller are reported once, even if they change no count', async () => {
  const { budgets, createPod, controller, status, testEngine } = await setUp()
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 1 } })
  const before = await status()
  await createPod('p', { isReady: false })
  assert.deepEqual(await status(), before)
  const resource = testEngine.catalog.find('', 'v1', 'events') as Resource
  const reasons = () => Array.from(readAll<Event>(testEngine, resource, 'n'), ({ reason, count }) => `${reason} ${count}`)
  assert.deepEqual(reasons(), ['NoPods 1', 'UnmanagedPods 1'])
  await createPod('p', { isReady: false })
  await status()
  assert.deepEqual(reasons(), ['NoPods 1', 'UnmanagedPods 1'])
  await controller.close()
})

test('the scale of a ReplicaSet is that of its Deployment', async () => {
  const { budgets, createPod, controller, status, sets, rawObjects } = await setUp()
  await rawObjects('apps', 'deployments').put({ metadata: { name: 'd', uid: 'deployment' }, spec: { replicas: 10 } })
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'deployment', controller: true }]
  for (const name of ['one', 'two']) await sets.put({ metadata: { name, uid: name, ownerReferences }, spec: { replicas: 4 } })
  await createPod('p', { controller: { kind: 'ReplicaSet', name: 'one', uid: 'one' } })
  await createPod('q', { controller: { kind: 'ReplicaSet', name: 'two', uid: 'two' } })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 9 } })
  assert.deepEqual(counts(await status()), [10, 2, 1, 1])
  await controller.close()
})

test('the scale of a custom resource counts', async () => {
  const { testEngine, budgets, createPod, controller, status } = await setUp()
  const names = { plural: 'fleets', singular: 'fleet', kind: 'Fleet', listKind: 'FleetList' }
  const crd = {
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
  const catalog = testEngine.catalogs.change({ put: [customKind(crd)] })
  const fleets = new RawObjects(testEngine, catalog.find('example.com', 'v1', 'fleets') as Resource)
  await fleets.put({ metadata: { name: 'f', uid: 'fleet' }, spec: { ships: 4 } })
  for (const name of ['p', 'q', 'r'])
    await createPod(name, { controller: { apiVersion: 'example.com/v1', kind: 'Fleet', name: 'f', uid: 'fleet' } })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: '50%' } })
  assert.deepEqual(counts(await status()), [4, 3, 2, 1])
  await controller.close()
})

for (const { title, controller: owner, message } of [
  {
    title: 'a controller without a scale',
    controller: { kind: 'DaemonSet', uid: 'daemon' },
    message: 'daemonsets.apps does not implement the scale subresource',
  },
  { title: 'a deleted controller', controller: { kind: 'ReplicaSet', uid: 'gone' }, message: 'found no controllers for pod "p"' },
  {
    title: 'a controller of an unknown kind',
    controller: { kind: 'Unknown', uid: 'x', apiVersion: 'example.com/v1' },
    message: 'no matches for kind "Unknown" in version "example.com/v1"',
  },
]) {
  test(`no disruption is allowed if the scale is unknown: ${title}`, async () => {
    const { budgets, createPod, controller, status, rawObjects } = await setUp()
    await rawObjects('apps', 'daemonsets').put({ metadata: { name: 'o', uid: 'daemon' } })
    await createPod('p', { controller: owner })
    await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, maxUnavailable: 1 } })
    const { disruptionsAllowed, conditions } = await status()
    assert.equal(disruptionsAllowed, 0)
    assert.deepEqual(
      conditions?.map((condition) => [condition.status, condition.reason, condition.message, condition.observedGeneration]),
      [['False', 'SyncFailed', message, undefined]],
    )
    await controller.close()
  })
}

test('follows added, changed and deleted pods, and writes changes only', async () => {
  const { testEngine, budgets, pods, createPod, controller, status } = await setUp()
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, minAvailable: 1 } })
  assert.deepEqual(counts(await status()), [0, 0, 1, 0])
  for (const name of ['p', 'q']) await createPod(name)
  assert.deepEqual(counts(await status()), [2, 2, 1, 1])
  await createPod('q', { isReady: false })
  assert.deepEqual(counts(await status()), [2, 1, 1, 0])
  await pods.remove('q')
  assert.deepEqual(counts(await status()), [1, 1, 1, 0])
  const { revision } = testEngine.engine.store
  await pods.put({ metadata: { name: 'other' } })
  await status()
  assert.equal(testEngine.engine.store.revision, revision + 1)
  await controller.close()
})

test('an evicted pod is not healthy until its deletion is late', async () => {
  const { timers, budgets, createPod, controller, status } = await setUp()
  for (const name of ['p', 'q', 'r']) await createPod(name, { target: name === 'p' })
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
  await controller.close()
})

test('a pod that was created under the name of an evicted one counts, unless both are of the same second', async () => {
  const { budgets, createPod, controller, status } = await setUp()
  const [evicted, creationTimestamp] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z']
  await createPod('p', { creationTimestamp })
  await createPod('q', { creationTimestamp, target: true })
  await createPod('r', { creationTimestamp: evicted })
  const disruptedPods = { p: evicted, q: evicted, r: evicted }
  const before = { disruptedPods, disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 0, expectedPods: 3 }
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, minAvailable: 0 }, status: before })
  const found = await status()
  assert.deepEqual(counts(found), [3, 1, 0, 1])
  assert.deepEqual(Object.keys(found.disruptedPods ?? {}), ['q', 'r'])
  await controller.close()
})

test('DisruptionTarget ends after two minutes, unless the pod is terminating or a kubelet ends it', async () => {
  const { pods, controller, timers } = await setUp()
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  await pods.put({ metadata: { name: 'kept' }, status: { conditions: [condition] } })
  await pods.put({ metadata: { name: 'going', deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { conditions: [condition] } })
  await pods.put({ metadata: { name: 'node' }, status: { conditions: [{ ...condition, reason: 'TerminationByKubelet' }] } })
  const statusOf = (name: string) => pods.read<Pod>(name)?.status?.conditions?.map(({ status, reason }) => `${status} ${reason}`)
  for (const [ms, expected] of [
    [119_000, 'True EvictionByEvictionAPI'],
    [2000, 'False EvictionByEvictionAPI'],
  ] as const) {
    await flushTurns()
    await timers.advance(ms)
    await flushTurns()
    assert.deepEqual(statusOf('kept'), [expected])
  }
  assert.deepEqual([statusOf('going'), statusOf('node')], [['True EvictionByEvictionAPI'], ['True TerminationByKubelet']])
  await controller.close()
})

test('a pod may be named `constructor`', async () => {
  const { budgets, createPod, controller, status } = await setUp()
  for (const name of ['constructor', 'q']) await createPod(name)
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { selector, minAvailable: 1 } })
  assert.deepEqual(counts(await status()), [2, 2, 1, 1])
  await controller.close()
})

test('a status with an integer beyond 2^53 is reconciled', async () => {
  const { budgets, createPod, controller, status } = await setUp()
  const zeros = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const odd = { status: { ...zeros, observedGeneration: 9007199254740993n } }
  await budgets.put({ metadata: { name: 'a', generation: 1 }, spec: { minAvailable: 1, selector }, ...odd })
  await budgets.put({ metadata: { name: 'b', generation: 1 }, spec: { minAvailable: 1, selector } })
  await status()
  for (const name of ['p', 'q', 'r']) await createPod(name)
  assert.deepEqual(counts(await status()), [3, 3, 1, 2])
  assert.deepEqual(counts(budgets.read<PodDisruptionBudget>('a')?.status ?? {}), [3, 3, 1, 2])
  await controller.close()
})
