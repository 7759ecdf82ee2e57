// The order in which pods are deleted: one row per rule; the first pod of each row goes first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { rankForDeletion } from './pod-ranking.js'

const identity = identityOf('kubernetes')
const nowMs = Date.parse('2026-01-01T12:00:00Z')
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

interface PodInput {
  readonly node?: string
  readonly phase?: string
  readonly readySince?: string
  readonly cost?: string
  readonly restarts?: number
  readonly created?: string
  readonly uid?: string
}

const ready: PodInput = { node: 'n', phase: 'Running', readySince: '2026-01-01T10:00:00Z' }

const podOf = ({ node, phase = 'Running', readySince, cost, restarts, created, uid = 'u' }: PodInput): Pod =>
  ({
    metadata: {
      uid,
      creationTimestamp: created ?? '2026-01-01T09:00:00Z',
      ...(cost === undefined ? {} : { annotations: { [costAnnotation]: cost } }),
    },
    spec: node === undefined ? {} : { nodeName: node },
    status: {
      phase,
      conditions: readySince === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }],
      ...(restarts === undefined ? {} : { containerStatuses: [{ name: 'c', restartCount: restarts }] }),
    },
  }) as unknown as Pod

const rows: readonly (readonly [rule: string, first: PodInput, second: PodInput])[] = [
  ['unassigned before assigned, even if ready', { phase: 'Running', readySince: '2026-01-01T10:00:00Z' }, { node: 'n', phase: 'Pending' }],
  ['pending before unknown', { node: 'n', phase: 'Pending' }, { node: 'n', phase: 'Unknown' }],
  ['unknown before running', { node: 'n', phase: 'Unknown' }, { node: 'n' }],
  ['not ready before ready', { node: 'n', cost: '100' }, { ...ready, cost: '-100' }],
  ['low cost before high cost', { ...ready, cost: '-5' }, ready],
  ['cost as a number', { ...ready, cost: '9' }, { ...ready, cost: '10' }],
  ['an invalid cost counts as 0', { ...ready, cost: '+7', restarts: 1 }, { ...ready, cost: '008' }],
  ['a cost beyond 32 bits counts as 0', { ...ready, cost: '99999999999', restarts: 1 }, ready],
  ['crowded node first', { ...ready, node: 'crowded' }, ready],
  ['ready for a shorter time first', { ...ready, readySince: '2026-01-01T11:59:00Z', uid: 'z' }, ready],
  [
    'ready times in the same power of two: the uid decides',
    { ...ready, readySince: '2026-01-01T10:00:00Z', uid: 'a' },
    { ...ready, readySince: '2026-01-01T10:05:00Z', uid: 'b' },
  ],
  ['more restarts first', { ...ready, restarts: 3 }, { ...ready, restarts: 1 }],
  ['younger first', { ...ready, created: '2026-01-01T11:59:50Z', uid: 'z' }, ready],
]

for (const [rule, first, second] of rows) {
  test(rule, () => {
    const pods = [podOf(first), podOf(second)]
    const rankOf = ({ spec }: Pod): number => (spec?.nodeName === 'crowded' ? 2 : 1)
    for (const order of [pods, pods.toReversed()]) assert.equal(rankForDeletion(order, { identity, nowMs, rankOf })[0], pods[0])
  })
}

test('pods of Jobs: the later created or ready pod goes first, whatever its uid and cost', () => {
  for (const [first, second] of [
    [
      { ...ready, readySince: '2026-01-01T10:00:05Z', uid: 'b', cost: '9' },
      { ...ready, uid: 'a' },
    ],
    [
      { node: 'n', created: '2026-01-01T09:00:05Z', uid: 'b' },
      { node: 'n', uid: 'a' },
    ],
  ] as const) {
    const pods = [podOf(first), podOf(second)]
    for (const order of [pods, pods.toReversed()]) assert.equal(rankForDeletion(order, { identity, nowMs, isOfJob: true })[0], pods[0])
  }
})
