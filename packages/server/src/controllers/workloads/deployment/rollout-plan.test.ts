// Sizes of ReplicaSets: tables of limits, growth, shrinking and proportional scaling.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { activeOrLatest, isSaturated, newReplicaSetSize, oldReplicaSetSizes, proportionalSizes, rollingLimits } from './rollout-plan.js'

const identity = identityOf('kubernetes')

type Limit = number | string

const deploymentOf = (replicas: number, maxSurge: Limit, maxUnavailable: Limit): Deployment =>
  ({ spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } } }) as Deployment

const recreating = { spec: { replicas: 3, strategy: { type: 'Recreate' } } } as Deployment

interface SetInput {
  readonly size: number
  readonly available?: number
  /** Annotation max-replicas. */
  readonly max?: number
  readonly desired?: number
}

/** Later names are younger. */
const replicaSetOf = (name: string, { size, available = size, max, desired }: SetInput): ReplicaSet =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: {
        ...(max === undefined ? {} : { 'deployment.kubernetes.io/max-replicas': String(max) }),
        ...(desired === undefined ? {} : { 'deployment.kubernetes.io/desired-replicas': String(desired) }),
      },
    },
    spec: { replicas: size },
    status: { replicas: size, availableReplicas: available },
  }) as unknown as ReplicaSet

const setsOf = (inputs: readonly SetInput[]): readonly ReplicaSet[] => inputs.map((input, i) => replicaSetOf(`rs-${i}`, input))

const limits: readonly (readonly [replicas: number, surge: Limit, unavailable: Limit, expected: readonly [number, number]])[] = [
  [4, 1, 1, [1, 1]],
  [5, '30%', '30%', [2, 1]],
  [3, '25%', '25%', [1, 0]],
  [10, '0%', '5%', [0, 1]],
  [10, 0, 0, [0, 1]],
  [2, 1, 5, [1, 2]],
  [0, 1, 1, [1, 0]],
  [10, '100%', '100%', [10, 10]],
]

test('surge rounds up, unavailability rounds down, and one of them is at least 1', () => {
  for (const [replicas, surge, unavailable, expected] of limits) {
    const { maxSurge, maxUnavailable } = rollingLimits(deploymentOf(replicas, surge, unavailable))
    assert.deepEqual([maxSurge, maxUnavailable], expected, `${replicas} ${surge} ${unavailable}`)
  }
  assert.deepEqual(rollingLimits(recreating), { maxSurge: 0, maxUnavailable: 0 })
})

const growth: readonly (readonly [title: string, deployment: Deployment, old: readonly number[], current: number, expected: number])[] = [
  ['first rollout', deploymentOf(3, 1, 1), [], 0, 3],
  ['surge only', deploymentOf(4, 1, 1), [4], 0, 1],
  ['after old ones shrank', deploymentOf(4, 1, 1), [3], 1, 2],
  ['no free replicas', deploymentOf(4, 1, 1), [4], 1, 1],
  ['no surge, none free', deploymentOf(4, 0, 1), [4], 0, 0],
  ['never beyond the wanted size', deploymentOf(2, 3, 0), [1], 1, 2],
  ['too large', deploymentOf(2, 1, 0), [], 5, 2],
  ['above the limit already', deploymentOf(2, 1, 0), [6], 1, 1],
  ['recreate', recreating, [], 0, 3],
]

for (const [title, deployment, old, current, expected] of growth) {
  test(`the new ReplicaSet grows: ${title}`, () => {
    const all = setsOf([...old, current].map((size) => ({ size })))
    assert.equal(newReplicaSetSize(deployment, all, current), expected)
  })
}

interface Shrinking {
  readonly title: string
  readonly deployment: Deployment
  readonly current: SetInput
  readonly old: readonly SetInput[]
  /** Sizes of the old ones afterwards. */
  readonly expected: readonly number[]
}

const shrinking: readonly Shrinking[] = [
  { title: 'by maxUnavailable', deployment: deploymentOf(4, 1, 1), current: { size: 1, available: 0 }, old: [{ size: 4 }], expected: [3] },
  { title: 'not yet', deployment: deploymentOf(4, 1, 0), current: { size: 1, available: 0 }, old: [{ size: 4 }], expected: [4] },
  { title: 'as new ones become available', deployment: deploymentOf(4, 1, 1), current: { size: 2 }, old: [{ size: 3 }], expected: [1] },
  {
    title: 'unavailable ones first, of the oldest',
    deployment: deploymentOf(10, 2, 2),
    current: { size: 2, available: 0 },
    old: [
      { size: 4, available: 4 },
      { size: 6, available: 1 },
    ],
    expected: [4, 4],
  },
  {
    title: 'unavailable and available ones',
    deployment: deploymentOf(3, 1, 0),
    current: { size: 3 },
    old: [{ size: 1 }, { size: 2, available: 0 }],
    expected: [0, 0],
  },
  {
    title: 'a status older than the spec does not count twice',
    deployment: deploymentOf(10, 3, 2),
    current: { size: 10, available: 6 },
    old: [{ size: 3, available: 8 }],
    expected: [2],
  },
  { title: 'all at the end', deployment: deploymentOf(2, 1, 0), current: { size: 2 }, old: [{ size: 1 }, { size: 1 }], expected: [0, 0] },
]

for (const { title, deployment, current, old, expected } of shrinking) {
  test(`old ReplicaSets shrink: ${title}`, () => {
    const sets = setsOf(old)
    const sizes = new Map(sets.map((each) => [each, each.spec?.replicas]))
    for (const { replicaSet, replicas } of oldReplicaSetSizes(deployment, replicaSetOf('rs-9', current), sets))
      sizes.set(replicaSet, replicas)
    assert.deepEqual([...sizes.values()], expected)
  })
}

interface Proportion {
  readonly title: string
  readonly deployment: Deployment
  readonly active: readonly SetInput[]
  readonly expected: readonly number[]
}

const proportions: readonly Proportion[] = [
  {
    title: 'up',
    deployment: deploymentOf(15, 3, 2),
    active: [
      { size: 8, max: 13 },
      { size: 5, max: 13 },
    ],
    expected: [11, 7],
  },
  {
    title: 'down',
    deployment: deploymentOf(5, 3, 2),
    active: [
      { size: 8, max: 13 },
      { size: 5, max: 13 },
    ],
    expected: [5, 3],
  },
  {
    title: 'to zero',
    deployment: deploymentOf(0, 3, 2),
    active: [
      { size: 8, max: 13 },
      { size: 5, max: 13 },
    ],
    expected: [0, 0],
  },
  {
    title: 'equal ones: the newer grows',
    deployment: deploymentOf(11, 0, 1),
    active: [
      { size: 5, max: 10 },
      { size: 5, max: 10 },
    ],
    expected: [5, 6],
  },
  {
    title: 'equal ones: the older shrinks',
    deployment: deploymentOf(9, 0, 1),
    active: [
      { size: 5, max: 10 },
      { size: 5, max: 10 },
    ],
    expected: [4, 5],
  },
  {
    title: 'no change',
    deployment: deploymentOf(10, 3, 2),
    active: [
      { size: 8, max: 13 },
      { size: 5, max: 13 },
    ],
    expected: [8, 5],
  },
  { title: 'without annotation', deployment: deploymentOf(4, 0, 1), active: [{ size: 1 }, { size: 1 }], expected: [1, 3] },
]

for (const { title, deployment, active, expected } of proportions) {
  test(`proportional scaling: ${title}`, () => {
    const sets = setsOf(active)
    const sizes = new Map(proportionalSizes(identity, deployment, sets).map(({ replicaSet, replicas }) => [replicaSet, replicas]))
    assert.deepEqual(
      sets.map((each) => sizes.get(each)),
      expected,
    )
  })
}

test('the ReplicaSet to scale is the only active one, or the newest', () => {
  const [one, two, three] = setsOf([{ size: 0 }, { size: 2 }, { size: 0 }]) as [ReplicaSet, ReplicaSet, ReplicaSet]
  assert.equal(activeOrLatest(three, [one, two]), two)
  assert.equal(activeOrLatest(three, [one]), three)
  assert.equal(activeOrLatest(undefined, [three, one]), three)
  assert.equal(activeOrLatest(two, [replicaSetOf('rs-4', { size: 1 })]), undefined)
  assert.equal(activeOrLatest(undefined, []), undefined)
})

test('a new ReplicaSet is saturated with all replicas of the wanted size available', () => {
  const deployment = deploymentOf(3, 1, 1)
  for (const [input, expected] of [
    [{ size: 3, desired: 3 }, true],
    [{ size: 3, desired: 2 }, false],
    [{ size: 3, desired: 3, available: 2 }, false],
    [{ size: 2, desired: 3 }, false],
  ] as const)
    assert.equal(isSaturated(identity, deployment, replicaSetOf('rs', input)), expected)
  assert.equal(isSaturated(identity, deployment, undefined), false)
})
