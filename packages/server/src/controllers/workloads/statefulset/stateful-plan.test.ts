// Steps of a StatefulSet: creation and removal in order, partition, maxUnavailable, failed pods; counts and completion of its status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { type PlanInput, planStatefulSet, statusAfter } from './stateful-plan.js'

const nowMs = Date.parse('2026-01-01T00:00:00Z')
type Spec = NonNullable<StatefulSet['spec']>

const setOf = (spec: Spec, more: object = {}): StatefulSet => ({
  metadata: { name: 'db', generation: 3 },
  spec: { podManagementPolicy: 'OrderedReady', updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
  ...more,
})

/** Pod written as `<ordinal> <revision> <state>`; state: ready, pending, failed, terminating, or `<n>s` for ready since n seconds. */
function podOf(text: string): Pod {
  const [ordinal, revision = '', state = ''] = text.split(' ')
  const seconds = /^\d+s$/.test(state) ? Number.parseInt(state, 10) : 3600
  const isReady = !['pending', 'failed'].includes(state)
  const phase = { pending: 'Pending', failed: 'Failed' }[state] ?? 'Running'
  return {
    metadata: {
      name: `db-${ordinal}`,
      labels: { 'controller-revision-hash': revision },
      ...(state === 'terminating' ? { deletionTimestamp: timeOf(nowMs) } : {}),
    },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timeOf(nowMs - seconds * 1000) }],
    },
  } as Pod
}

const inputOf = (set: StatefulSet, pods: readonly string[], more: Partial<PlanInput> = {}): PlanInput => ({
  set,
  pods: pods.map(podOf),
  current: 'a',
  update: 'b',
  nowMs,
  isMaxUnavailableEnabled: false,
  isStartOrdinalEnabled: false,
  isClaimStale: () => false,
  isConsistent: () => true,
  isReadyForRemoval: () => true,
  ...more,
})

interface Row {
  readonly title: string
  readonly spec: Spec
  readonly pods: readonly string[]
  readonly more?: Partial<PlanInput>
  readonly expect: readonly string[]
}

const parallel = { podManagementPolicy: 'Parallel' }
const partition = (value: number): Spec => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: value } } })
const maxUnavailable = (value: number | string): Spec => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: value } },
})

const rows: readonly Row[] = [
  { title: 'ordered: first pod only', spec: { replicas: 3 }, pods: [], expect: ['create 0 b'] },
  { title: 'ordered: waits for a pending pod', spec: { replicas: 3 }, pods: ['0 b pending'], expect: [] },
  { title: 'ordered: next pod after a ready one', spec: { replicas: 3 }, pods: ['0 b ready'], expect: ['create 1 b'] },
  { title: 'ordered: waits for availability', spec: { replicas: 2, minReadySeconds: 10 }, pods: ['0 b 9s'], expect: [] },
  { title: 'ordered: goes on at availability', spec: { replicas: 2, minReadySeconds: 10 }, pods: ['0 b 10s'], expect: ['create 1 b'] },
  { title: 'ordered: waits for a terminating pod', spec: { replicas: 2 }, pods: ['0 b terminating'], expect: [] },
  { title: 'ordered: fills a gap', spec: { replicas: 3 }, pods: ['0 b ready', '2 b ready'], expect: ['create 1 b'] },
  { title: 'parallel: all at once', spec: { replicas: 3, ...parallel }, pods: ['1 b pending'], expect: ['create 0 b', 'create 2 b'] },
  { title: 'a failed pod is created again', spec: { replicas: 1 }, pods: ['0 b failed'], expect: ['recreate 0', 'create 0 b'] },
  {
    title: 'parallel: a failed outdated pod is created again from the new template, and the update waits for it',
    spec: { replicas: 2, ...parallel },
    pods: ['0 a ready', '1 a failed'],
    expect: ['recreate 1', 'create 1 b'],
  },
  { title: 'a succeeded pod stays', spec: { replicas: 1, ...parallel }, pods: ['0 b pending'], expect: [] },
  { title: 'a stale claim blocks', spec: { replicas: 1 }, pods: [], more: { isClaimStale: () => true }, expect: [] },
  {
    title: 'a pod without identity is repaired',
    spec: { replicas: 1 },
    pods: ['0 b ready'],
    more: { isConsistent: () => false },
    expect: ['repair 0'],
  },
  {
    title: 'claims of a removed pod get their owner first',
    spec: { replicas: 0 },
    pods: ['0 b ready'],
    more: { isReadyForRemoval: () => false },
    expect: ['ownClaims 0', 'delete 0'],
  },
  {
    title: 'ordered: removes the highest ordinal',
    spec: { replicas: 1 },
    pods: ['0 b ready', '1 b ready', '10 b ready', '2 b ready'],
    expect: ['delete 10'],
  },
  { title: 'ordered: waits while a pod terminates', spec: { replicas: 0 }, pods: ['0 b ready', '1 b terminating'], expect: [] },
  { title: 'ordered: a lower unhealthy pod blocks removal', spec: { replicas: 1 }, pods: ['0 b pending', '1 b ready'], expect: [] },
  {
    title: 'ordered: removes the first unhealthy pod',
    spec: { replicas: 1 },
    pods: ['0 b ready', '1 b ready', '2 b pending'],
    expect: ['delete 2'],
  },
  { title: 'ordered: two unhealthy pods block', spec: { replicas: 1 }, pods: ['0 b ready', '1 b pending', '2 b pending'], expect: [] },
  {
    title: 'parallel: removes all, the highest first',
    spec: { replicas: 0, ...parallel },
    pods: ['0 b pending', '1 b terminating', '2 b ready'],
    expect: ['delete 2', 'delete 0'],
  },
  { title: 'update: the last outdated pod', spec: { replicas: 3 }, pods: ['0 a ready', '1 a ready', '2 a ready'], expect: ['delete 2'] },
  { title: 'update: waits for the replaced pod', spec: { replicas: 2, ...parallel }, pods: ['0 a ready', '1 b pending'], expect: [] },
  { title: 'update: waits for termination', spec: { replicas: 2, ...parallel }, pods: ['0 a ready', '1 a terminating'], expect: [] },
  {
    title: 'update: replaces a broken outdated pod',
    spec: { replicas: 2, ...parallel },
    pods: ['0 a ready', '1 a pending'],
    expect: ['delete 1'],
  },
  { title: 'update: partition', spec: { replicas: 3, ...partition(2) }, pods: ['0 a ready', '1 a ready', '2 b ready'], expect: [] },
  {
    title: 'update: new pods below the partition are old',
    spec: { replicas: 2, ...parallel, ...partition(1) },
    pods: [],
    expect: ['create 0 a', 'create 1 b'],
  },
  { title: 'update: a partition beyond the replicas', spec: { replicas: 1, ...partition(5) }, pods: ['0 a ready'], expect: [] },
  { title: 'on delete', spec: { replicas: 2, updateStrategy: { type: 'OnDelete' } }, pods: ['0 a ready', '1 a ready'], expect: [] },
  {
    title: 'on delete: a missing pod is new',
    spec: { replicas: 1, updateStrategy: { type: 'OnDelete' } },
    pods: [],
    expect: ['create 0 b'],
  },
  {
    title: 'maxUnavailable',
    spec: { replicas: 5, ...parallel, ...maxUnavailable(3) },
    pods: ['0 a ready', '1 a ready', '2 a ready', '3 a ready', '4 b pending'],
    more: { isMaxUnavailableEnabled: true },
    expect: ['delete 3', 'delete 2'],
  },
  {
    title: 'maxUnavailable: an unhealthy pod below the partition counts',
    spec: { replicas: 3, ...parallel, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 2 } } },
    pods: ['0 a pending', '1 a ready', '2 a ready'],
    more: { isMaxUnavailableEnabled: true },
    expect: ['delete 2'],
  },
  {
    title: 'maxUnavailable in percent is at least one',
    spec: { replicas: 3, ...maxUnavailable('10%') },
    pods: ['0 a ready', '1 a ready', '2 a ready'],
    more: { isMaxUnavailableEnabled: true },
    expect: ['delete 2'],
  },
  {
    title: 'maxUnavailable without its feature gate',
    spec: { replicas: 3, ...maxUnavailable(2) },
    pods: ['0 a ready', '1 a ready', '2 a ready'],
    expect: ['delete 2'],
  },
  {
    title: 'start ordinal',
    spec: { replicas: 2, ordinals: { start: 3 }, ...parallel, ...partition(1) },
    pods: ['0 b ready'],
    more: { isStartOrdinalEnabled: true },
    expect: ['create 3 a', 'create 4 b', 'delete 0'],
  },
  { title: 'start ordinal without its feature gate', spec: { replicas: 1, ordinals: { start: 3 } }, pods: [], expect: ['create 0 b'] },
]

for (const { title, spec, pods, more, expect } of rows)
  test(title, () => {
    const { steps } = planStatefulSet(inputOf(setOf(spec), pods, more))
    assert.deepEqual(
      steps.map((step) => `${step.action} ${step.ordinal}${step.action === 'create' ? ` ${step.revision}` : ''}`),
      expect,
    )
  })

test('a terminating StatefulSet only counts', () => {
  const set = setOf({ replicas: 3 })
  const input = inputOf({ ...set, metadata: { ...set.metadata, deletionTimestamp: timeOf(nowMs) } }, ['0 b ready'])
  assert.deepEqual(planStatefulSet(input).steps, [])
})

test('counts before and after the steps', () => {
  const spec = { replicas: 3, ...parallel, minReadySeconds: 10 }
  const { initial, steps } = planStatefulSet(inputOf(setOf(spec), ['0 a ready', '1 b 1s', '3 b terminating']))
  assert.deepEqual(initial, { replicas: 3, readyReplicas: 3, availableReplicas: 2, currentReplicas: 1, updatedReplicas: 1 })
  assert.deepEqual(steps.at(-1)?.counts, { ...initial, replicas: 4, updatedReplicas: 2 })
})

for (const { title, type, updatedReplicas, readyReplicas, expect } of [
  { title: 'all pods updated and ready', type: 'RollingUpdate', updatedReplicas: 2, readyReplicas: 2, expect: ['b', 2] },
  { title: 'a pod is not ready', type: 'RollingUpdate', updatedReplicas: 2, readyReplicas: 1, expect: ['a', undefined] },
  { title: 'a pod is outdated', type: 'RollingUpdate', updatedReplicas: 1, readyReplicas: 2, expect: ['a', undefined] },
  { title: 'on delete never completes', type: 'OnDelete', updatedReplicas: 2, readyReplicas: 2, expect: ['a', undefined] },
])
  test(`completion: ${title}`, () => {
    const set = setOf({ updateStrategy: { type } })
    const counts = { replicas: 2, readyReplicas, availableReplicas: 0, currentReplicas: 0, updatedReplicas }
    const status = statusAfter({ set, current: 'a', update: 'b' }, counts, 0)
    assert.deepEqual([status.currentRevision, status.currentReplicas], expect)
    assert.deepEqual([status.updateRevision, status.observedGeneration, status.availableReplicas, status.collisionCount], ['b', 3, 0, 0])
  })

test('the plan for billions of replicas has 500 pods per run', () => {
  const set = setOf({ replicas: 2_147_483_647, ...parallel })
  const stepsFor = (pods: readonly string[]) =>
    planStatefulSet(inputOf(set, pods)).steps.map(({ action, ordinal }) => `${action} ${ordinal}`)
  const first = stepsFor([])
  assert.deepEqual([first.length, first.at(-1)], [500, 'create 499'])
  const second = stepsFor(['0 b ready', '1 b ready', '2000000000 b ready'])
  assert.deepEqual([second.length, second[0], second.at(-1)], [501, 'create 2', 'create 502'])
})
