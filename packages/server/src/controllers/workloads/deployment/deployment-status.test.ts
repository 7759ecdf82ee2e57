// Status of a Deployment: counts, availability, progress, deadline, failures of ReplicaSets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, DeploymentStatus, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import { countedStatus, rolloutStatus, untilDeadlineMs } from './deployment-status.js'

const nowMs = Date.parse('2026-01-01T00:10:00Z')
const now = '2026-01-01T00:10:00Z'
const before = '2026-01-01T00:00:00Z'

const progressing = (reason: string, status = 'True', lastUpdateTime = before) => ({
  type: 'Progressing',
  status,
  reason,
  message: '',
  lastUpdateTime,
  lastTransitionTime: before,
})

const deploymentOf = (status: DeploymentStatus = {}, spec: object = {}): Deployment =>
  ({
    metadata: { name: 'web', generation: 2 },
    spec: {
      replicas: 2,
      progressDeadlineSeconds: 60,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      ...spec,
    },
    status,
  }) as unknown as Deployment

const replicaSetOf = (name: string, replicas: number, counts: object = {}): ReplicaSet =>
  ({ metadata: { name, uid: name }, spec: { replicas }, status: { replicas, ...counts } }) as unknown as ReplicaSet

const available = { readyReplicas: 2, availableReplicas: 2 }

const summary = (status: DeploymentStatus, type: string): string => {
  const found = status.conditions?.find((condition) => condition.type === type)
  return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`
}

test('counts are sums over the ReplicaSets; counts of 0 are left out', () => {
  const current = replicaSetOf('new', 1)
  const old = replicaSetOf('old', 2, available)
  const { conditions: _, ...counts } = countedStatus(deploymentOf(), { current, all: [old, current], nowMs })
  assert.deepEqual(counts, {
    observedGeneration: 2,
    replicas: 3,
    updatedReplicas: 1,
    readyReplicas: 2,
    availableReplicas: 2,
    unavailableReplicas: 1,
  })
  const { conditions: __, ...none } = countedStatus(deploymentOf({ collisionCount: 0 }), { current: undefined, all: [], nowMs })
  assert.deepEqual(none, { observedGeneration: 2, collisionCount: 0 })
})

interface ProgressRow {
  readonly title: string
  readonly status?: DeploymentStatus
  readonly spec?: object
  readonly current?: ReplicaSet
  readonly expected: string
}

const rows: readonly ProgressRow[] = [
  {
    title: 'complete',
    current: replicaSetOf('new', 2, available),
    expected: 'True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.',
  },
  {
    title: 'more updated replicas',
    status: { conditions: [progressing('NewReplicaSetCreated')] },
    current: replicaSetOf('new', 1),
    expected: 'True ReplicaSetUpdated: ReplicaSet "new" is progressing.',
  },
  {
    title: 'fewer old replicas, no new ReplicaSet',
    status: { replicas: 2, conditions: [progressing('DeploymentResumed', 'Unknown')] },
    expected: 'True ReplicaSetUpdated: Deployment "web" is progressing.',
  },
  {
    title: 'no progress before the deadline',
    status: { replicas: 1, updatedReplicas: 1, conditions: [progressing('ReplicaSetUpdated', 'True', now)] },
    current: replicaSetOf('new', 1),
    expected: 'True ReplicaSetUpdated: ',
  },
  {
    title: 'no progress after the deadline',
    status: { replicas: 1, updatedReplicas: 1, conditions: [progressing('ReplicaSetUpdated')] },
    current: replicaSetOf('new', 1),
    expected: 'False ProgressDeadlineExceeded: ReplicaSet "new" has timed out progressing.',
  },
  {
    title: 'progress after the deadline',
    status: { replicas: 1, updatedReplicas: 1, conditions: [progressing('ProgressDeadlineExceeded', 'False')] },
    current: replicaSetOf('new', 2),
    expected: 'True ReplicaSetUpdated: ReplicaSet "new" is progressing.',
  },
  {
    title: 'a complete rollout that loses a pod does not start again',
    status: { replicas: 2, updatedReplicas: 2, ...available, conditions: [progressing('NewReplicaSetAvailable')] },
    current: replicaSetOf('new', 2, { readyReplicas: 1, availableReplicas: 1 }),
    expected: 'True NewReplicaSetAvailable: ',
  },
  {
    title: 'without a deadline there is no condition',
    status: { conditions: [progressing('ReplicaSetUpdated')] },
    spec: { progressDeadlineSeconds: 2 ** 31 - 1 },
    current: replicaSetOf('new', 1),
    expected: '',
  },
]

for (const { title, status, spec, current, expected } of rows) {
  test(`progress: ${title}`, () => {
    const all = current === undefined ? [] : [current]
    assert.equal(summary(rolloutStatus(deploymentOf(status, spec), { current, all, nowMs }), 'Progressing'), expected)
  })
}

test('progress with the same reason changes lastUpdateTime, not lastTransitionTime', () => {
  const current = replicaSetOf('new', 2)
  const deployment = deploymentOf({ updatedReplicas: 1, conditions: [progressing('ReplicaSetUpdated')] })
  const condition = rolloutStatus(deployment, { current, all: [current], nowMs }).conditions?.find(({ type }) => type === 'Progressing')
  assert.deepEqual([condition?.lastUpdateTime, condition?.lastTransitionTime], [now, before])
})

test('the failure of a ReplicaSet is copied, that of the new one first, and removed with it', () => {
  const failure = (message: string) => ({ conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }] })
  const [old, current] = [replicaSetOf('old', 1, failure('old')), replicaSetOf('new', 1, failure('new'))]
  const failed = rolloutStatus(deploymentOf(), { current, all: [old, current], nowMs })
  assert.equal(summary(failed, 'ReplicaFailure'), 'True FailedCreate: new')
  assert.equal(
    summary(rolloutStatus(deploymentOf(), { current: undefined, all: [old], nowMs }), 'ReplicaFailure'),
    'True FailedCreate: old',
  )
  const healthy = replicaSetOf('new', 2, available)
  assert.equal(summary(rolloutStatus(deploymentOf(failed), { current: healthy, all: [healthy], nowMs }), 'ReplicaFailure'), '')
})

test('the deadline is checked again while a rollout is unfinished', () => {
  const unfinished = deploymentOf({ conditions: [progressing('ReplicaSetUpdated', 'True', now)] })
  assert.equal(untilDeadlineMs(unfinished, unfinished.status ?? {}, nowMs), 61_000)
  const timedOut = deploymentOf({ conditions: [progressing('ProgressDeadlineExceeded', 'False')] })
  assert.equal(untilDeadlineMs(timedOut, timedOut.status ?? {}, nowMs), undefined)
  const complete = deploymentOf({ observedGeneration: 2, replicas: 2, updatedReplicas: 2, ...available, conditions: [progressing('x')] })
  assert.equal(untilDeadlineMs(complete, complete.status ?? {}, nowMs), undefined)
})
