// Tests of preemption: the victims, their node, and the message if there are none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { PodDisruptionBudget } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import { pendingOf, SpentBudget, type TestObjects, testCluster, testNode, testPod } from './cluster.fixture.js'
import { findNode } from './find-node.js'
import { planPreemption } from './preemption.js'

/** The node and its victims, or the message. */
async function outcome(pod: Pod, objects: TestObjects, budgets: readonly PodDisruptionBudget[] = []): Promise<string> {
  const { cluster, index } = testCluster(objects)
  const pending = pendingOf(pod)
  const finding = await findNode(pending, cluster, index)
  if (!('diagnosis' in finding)) return 'fits'
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const plan = await planPreemption(pending, { cluster, ...finding, budgets: () => budgets, nowMs, budget: turnBudget })
  return 'victims' in plan ? `${plan.node}: ${plan.victims.join(' ')}` : plan.message
}

const low = (name: string, nodeName: string, cpu: string, more: object = {}) => testPod(name, { nodeName, requests: { cpu }, ...more })
const started = (pod: Pod, startTime: string): Pod => ({ ...pod, status: { ...pod.status, startTime } })
const old = started(low('old', 'a', '2'), '2025-01-01T00:00:00Z')
const high = (cpu: string, more: object = {}) => testPod('high', { priority: 100, requests: { cpu }, ...more })
const nodes = [testNode('a'), testNode('b')]
const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget => ({
  metadata: { name: app, namespace: 'n' },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed },
})
const x = { labels: { app: 'x' } }

const rows: readonly (readonly [string, Pod, TestObjects, readonly PodDisruptionBudget[], string])[] = [
  [
    'the lowest priority goes',
    high('4'),
    { nodes, pods: [low('p', 'a', '4', { priority: 2 }), low('q', 'b', '4', { priority: 1 })] },
    [],
    'b: n/q',
  ],
  ['as few as possible go', high('1'), { nodes, pods: [low('p', 'a', '2'), low('q', 'a', '2'), low('r', 'b', '4')] }, [], 'a: n/q'],
  [
    'the less important goes',
    high('2'),
    { nodes: [testNode('a')], pods: [old, started(low('young', 'a', '2'), '2025-02-01T00:00:00Z')] },
    [],
    'a: n/young',
  ],
  [
    'equal priorities stay',
    testPod('p', { requests: { cpu: '1' } }),
    { nodes, pods: [low('p1', 'a', '4'), low('p2', 'b', '4')] },
    [],
    'preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
  ],
  [
    'never',
    high('1', { preemptionPolicy: 'Never' }),
    { nodes, pods: [low('p', 'a', '4'), low('q', 'b', '4')] },
    [],
    'preemption: not eligible due to preemptionPolicy=Never.',
  ],
  [
    'not even an empty node is enough',
    high('9'),
    { nodes, pods: [low('p', 'a', '4')] },
    [],
    'preemption: 0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod.',
  ],
  [
    'what evictions cannot change',
    high('1', { nodeSelector: { no: 'where' } }),
    { nodes, pods: [low('p', 'a', '4')] },
    [],
    'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  ],
  [
    'an exhausted budget is spared',
    high('4'),
    { nodes, pods: [low('p', 'a', '4', x), low('q', 'b', '4', { priority: 5 })] },
    [budget('x', 0)],
    'b: n/q',
  ],
  [
    'a budget that allows a disruption',
    high('4'),
    { nodes, pods: [low('p', 'a', '4', x), low('q', 'b', '4', { priority: 5 })] },
    [budget('x', 1)],
    'a: n/p',
  ],
  [
    'pods of a budget stay first',
    high('2'),
    { nodes: [testNode('a')], pods: [old, started(low('young', 'a', '2', x), '2025-02-01T00:00:00Z')] },
    [budget('x', 0)],
    'a: n/old',
  ],
  [
    'it waits for its victims',
    { ...high('4'), status: { nominatedNodeName: 'a' } },
    { nodes, pods: [low('p', 'a', '4', { isTerminating: true }), low('q', 'b', '4')] },
    [],
    'preemption: not eligible due to a terminating pod on the nominated node.',
  ],
  [
    'anti-affinity of victims goes with them',
    high('1', x),
    {
      nodes: [testNode('a')],
      pods: [
        low('p', 'a', '1', {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } },
              ],
            },
          },
        }),
        low('q', 'a', '1'),
      ],
    },
    [],
    'a: n/p',
  ],
  [
    'the skew after an eviction',
    high('1', {
      ...x,
      nodeSelector: { 'kubernetes.io/hostname': 'a' },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          nodeAffinityPolicy: 'Ignore',
          labelSelector: { matchLabels: { app: 'x' } },
        },
      ],
    }),
    { nodes, pods: [low('p', 'a', '1', x), low('q', 'a', '1')] },
    [],
    'a: n/p',
  ],
]

for (const [name, pod, objects, budgets, expected] of rows)
  test(name, async () => assert.equal(await outcome(pod, objects, budgets), expected))

test('long plans yield to the event loop between nodes and victims', async () => {
  const budget = new SpentBudget()
  const many = Array.from({ length: 10 }, (_, i) => testNode(`n${i}`))
  const pods = many.flatMap(({ metadata }, i) => ['1', '1', '2'].map((cpu, j) => low(`p${i}-${j}`, metadata?.name ?? '', cpu)))
  const { cluster, index } = testCluster({ nodes: many, pods })
  const pending = pendingOf(high('4'))
  const finding = await findNode(pending, cluster, index)
  assert.ok('diagnosis' in finding)
  const plan = await planPreemption(pending, { cluster, ...finding, budgets: () => [], nowMs: 0, budget })
  assert.equal('victims' in plan && plan.victims.length, 3)
  assert.ok(budget.turns >= many.length + pods.length, `${budget.turns} turns`)
})
