// Rules of the node lifecycle controller: taints, labels, silent nodes, zones, tolerations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Node, Taint, Toleration } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { isSilent, probeOf, unknownConditions } from './node-health.js'
import { missingBetaLabels, presentNoExecuteTaint, withNoExecuteTaint, withNoScheduleTaints } from './node-taints.js'
import { tolerationSeconds } from './toleration-time.js'
import { evictionIntervalMs, isAllDisrupted, zoneStateOf } from './zone-states.js'

const identity = identityOf('cluster')
const timeAdded = '2026-01-01T00:00:00Z'
const keyed = (name: string, effect = 'NoSchedule'): Taint => ({ key: `node.cluster.io/${name}`, effect })
const own: Taint = { key: 'team', value: 'a', effect: 'NoSchedule' }
type Conditions = readonly { readonly type: string; readonly status: string }[]
const nodeOf = (conditions: Conditions, spec: object = {}): Node => ({ metadata: {}, spec, status: { conditions } }) as unknown as Node

const taintRows: readonly { readonly name: string; readonly node: Node; readonly keys: readonly string[] }[] = [
  {
    name: 'a node without conditions loses the taint of its creation',
    node: nodeOf([], { taints: [keyed('not-ready'), own] }),
    keys: ['team'],
  },
  { name: 'Ready False', node: nodeOf([{ type: 'Ready', status: 'False' }]), keys: ['node.cluster.io/not-ready'] },
  {
    name: 'Ready Unknown replaces not-ready',
    node: nodeOf([{ type: 'Ready', status: 'Unknown' }], { taints: [keyed('not-ready'), own] }),
    keys: ['team', 'node.cluster.io/unreachable'],
  },
  {
    name: 'pressure in the order of the conditions; False is no pressure',
    node: nodeOf([
      { type: 'PIDPressure', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
      { type: 'MemoryPressure', status: 'True' },
      { type: 'NetworkUnavailable', status: 'True' },
    ]),
    keys: ['node.cluster.io/pid-pressure', 'node.cluster.io/memory-pressure', 'node.cluster.io/network-unavailable'],
  },
  { name: 'unschedulable', node: nodeOf([], { unschedulable: true }), keys: ['node.cluster.io/unschedulable'] },
  { name: 'schedulable again', node: nodeOf([], { taints: [keyed('unschedulable')] }), keys: [] },
  { name: 'NoExecute taints stay', node: nodeOf([], { taints: [keyed('not-ready', 'NoExecute')] }), keys: ['node.cluster.io/not-ready'] },
]
for (const { name, node, keys } of taintRows)
  test(`NoSchedule taints: ${name}`, () => {
    const taints = withNoScheduleTaints(node, identity, timeAdded)
    assert.deepEqual(
      taints.map(({ key }) => key),
      keys,
    )
    for (const taint of taints) assert.ok(node.spec?.taints?.includes(taint) === true || taint.timeAdded === timeAdded)
  })

test('a node has at most one NoExecute taint of the controller', () => {
  const taints = [own, keyed('unreachable', 'NoExecute')]
  assert.equal(presentNoExecuteTaint(taints, identity), 'unreachable')
  assert.deepEqual(withNoExecuteTaint(taints, 'not-ready', { identity, timeAdded }), [
    own,
    { ...keyed('not-ready', 'NoExecute'), timeAdded },
  ])
  assert.deepEqual(withNoExecuteTaint(taints, 'unreachable', { identity, timeAdded }), taints)
  assert.deepEqual(withNoExecuteTaint(taints, undefined, { identity, timeAdded }), [own])
})

test('the beta labels follow the stable ones', () => {
  const labels = { 'cluster.io/os': 'linux', 'cluster.io/arch': 'arm64', 'beta.cluster.io/arch': 'arm64' }
  assert.deepEqual(missingBetaLabels({ metadata: { labels } } as unknown as Node, identity), { 'beta.cluster.io/os': 'linux' })
})

test('a node is silent 40 s after its last heartbeat or renewal, or 60 s after its creation', () => {
  const reported = nodeOf([{ type: 'Ready', status: 'True' }])
  const first = probeOf(reported, '', { before: undefined, nowMs: 1000 })
  assert.equal(isSilent(reported, first, 41_000), false)
  assert.equal(isSilent(reported, first, 41_001), true)
  assert.equal(probeOf(reported, '', { before: first, nowMs: 30_000 }), first)
  assert.equal(probeOf(reported, 'renewed', { before: first, nowMs: 30_000 }).atMs, 30_000)
  const fresh = { metadata: { creationTimestamp: timeOf(0) } } as unknown as Node
  const never = probeOf(fresh, '', { before: undefined, nowMs: 50_000 })
  assert.equal(isSilent(fresh, { ...never, atMs: 0 }, 60_000), false)
  assert.equal(isSilent(fresh, { ...never, atMs: 0 }, 60_001), true)
})

test('a silent node gets every watched condition, once', () => {
  const node = nodeOf([{ type: 'MemoryPressure', status: 'False' }])
  const conditions = unknownConditions(node, 0) ?? []
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['MemoryPressure', 'Unknown', 'NodeStatusUnknown'],
      ['Ready', 'Unknown', 'NodeStatusNeverUpdated'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ],
  )
  assert.equal(unknownConditions({ ...node, status: { conditions } } as unknown as Node, 1), undefined)
})

const zoneRows = [
  { ready: 3, notReady: 1, state: 'normal', intervalMs: 10_000 },
  { ready: 1, notReady: 2, state: 'normal', intervalMs: 10_000 },
  { ready: 2, notReady: 3, state: 'partial disruption', intervalMs: undefined },
  { ready: 20, notReady: 40, state: 'partial disruption', intervalMs: 100_000 },
  { ready: 0, notReady: 1, state: 'full disruption', intervalMs: 10_000 },
] as const
for (const { state, intervalMs, ...zone } of zoneRows)
  test(`zone with ${zone.ready} ready nodes and ${zone.notReady} others: ${state}`, () => {
    assert.equal(zoneStateOf(zone), state)
    assert.equal(evictionIntervalMs(zone), intervalMs)
    assert.equal(isAllDisrupted([zone]), state === 'full disruption')
    assert.equal(isAllDisrupted([zone, { ready: 1, notReady: 0 }]), false)
  })

const drain: Taint = { key: 'drain', effect: 'NoExecute' }
const lost: Taint = { key: 'lost', effect: 'NoExecute' }
const tolerationRows: readonly [string, readonly Taint[], readonly Toleration[], number | undefined][] = [
  ['no toleration', [drain], [], 0],
  ['NoSchedule is ignored', [own], [], undefined],
  ['without time', [drain, lost], [{ operator: 'Exists' }], undefined],
  ['with time', [drain], [{ key: 'drain', operator: 'Exists', tolerationSeconds: 30 }], 30],
  [
    'the first toleration counts',
    [drain],
    [{ operator: 'Exists' }, { key: 'drain', operator: 'Exists', tolerationSeconds: 30 }],
    undefined,
  ],
  [
    'the shortest of all taints',
    [drain, lost],
    [
      { key: 'drain', operator: 'Exists', tolerationSeconds: 30 },
      { key: 'lost', tolerationSeconds: 5 },
    ],
    5,
  ],
  ['one taint is not tolerated', [drain, lost], [{ key: 'drain', operator: 'Exists', tolerationSeconds: 30 }], 0],
  ['a negative time', [drain], [{ operator: 'Exists', tolerationSeconds: -1 }], 0],
]
for (const [name, taints, tolerations, seconds] of tolerationRows)
  test(`toleration time: ${name}`, () => assert.equal(tolerationSeconds(taints, tolerations), seconds))
