// Tests of the number of replicas that metrics propose, and of the limits of a recommendation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { HorizontalPodAutoscaler } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type MetricSources, proposeReplicas } from './metric-proposals.js'
import { replicasForAverage, replicasForUtilization, replicasForValue, replicasForValuePerPod } from './replica-count.js'
import { limit, newHistory, noteScaling } from './scale-limits.js'

const nowMs = Date.parse('2026-01-01T01:00:00Z')

/** State of a pod, and its usage as a share of its request of 1,000: `100`, `-` without metrics. */
type PodText = `${'ready' | 'pending' | 'starting' | 'terminating'} ${number | '-'}`

function podOf(text: PodText, i: number): Pod {
  const [state] = text.split(' ')
  const isStarting = state === 'starting'
  return {
    metadata: { name: `p${i}`, ...(state === 'terminating' ? { deletionTimestamp: '2026-01-01T00:59:00Z' } : {}) },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status: {
      phase: state === 'pending' ? 'Pending' : 'Running',
      startTime: isStarting ? '2026-01-01T00:59:30Z' : '2026-01-01T00:00:00Z',
      conditions: [{ type: 'Ready', status: isStarting ? 'False' : 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }],
    },
  }
}

const ruleOf = (texts: readonly PodText[], currentReplicas = texts.length) => ({
  pods: texts.map(podOf),
  values: new Map(
    texts.flatMap((text, i) => {
      const value = Number(text.split(' ')[1])
      return Number.isNaN(value) ? [] : [[`p${i}`, { value: value * 10, atMs: nowMs, windowMs: 30_000 }] as const]
    }),
  ),
  currentReplicas,
  isCpu: true,
  nowMs,
})

const rows: readonly (readonly [title: string, pods: readonly PodText[], replicas: number])[] = [
  ['twice the target', ['ready 100', 'ready 100'], 4],
  ['half of the target', ['ready 25', 'ready 25', 'ready 25', 'ready 25'], 2],
  ['within the tolerance', ['ready 55', 'ready 45'], 2],
  ['just above the tolerance', ['ready 56', 'ready 56'], 3],
  ['a pod without metrics counts as full on the way down', ['ready 10', 'ready 10', 'ready -'], 3],
  ['and as empty on the way up', ['ready 100', 'ready 100', 'ready -'], 4],
  ['which never changes the direction', ['ready 60', 'ready -', 'ready -'], 3],
  ['pending and starting pods count as empty on the way up', ['ready 200', 'pending -', 'starting 90'], 4],
  ['and not at all on the way down', ['ready 10', 'pending -'], 1],
  ['terminating pods do not count', ['ready 100', 'terminating 100'], 2],
]

for (const [title, pods, replicas] of rows)
  test(`utilization: ${title}`, () =>
    assert.equal(replicasForUtilization(ruleOf(pods), { resource: 'cpu', target: 50 }).replicas, replicas))

test('errors of pods and requests', () => {
  const utilization = (rule: ReturnType<typeof ruleOf>) => () => replicasForUtilization(rule, { resource: 'cpu', target: 50 })
  assert.throws(utilization(ruleOf([])), /^Error: no pods returned by selector while calculating replica count$/)
  assert.throws(utilization(ruleOf(['pending -'])), /did not receive metrics for any ready pods/)
  const rule = ruleOf(['ready 1'])
  const pods = [{ ...rule.pods[0], spec: { containers: [{ name: 'c' }] } }]
  assert.throws(utilization({ ...rule, pods }), /missing request for cpu in container c of Pod p0/)
})

test('averages and values', () => {
  assert.deepEqual(replicasForAverage(ruleOf(['ready 100', 'ready 50']), 500), { replicas: 3, average: 750 })
  const { pods } = ruleOf(['ready 1', 'ready 1', 'pending -'])
  assert.equal(replicasForValue(300, 100, { pods, currentReplicas: 3 }), 6)
  assert.equal(replicasForValue(105, 100, { pods, currentReplicas: 3 }), 3)
  assert.equal(replicasForValue(300, 100, { pods: [], currentReplicas: 0 }), 3)
  assert.deepEqual(replicasForValuePerPod(900, 100, 3), { replicas: 9, average: 300 })
  assert.deepEqual(replicasForValuePerPod(310, 100, 3), { replicas: 3, average: 104 })
})

test('the highest proposal wins; errors of one metric are reported next to it', async () => {
  const sources: MetricSources = {
    podMetrics: {
      usageOf: async () => [{ name: 'p0', atMs: nowMs, windowMs: 1, containers: [{ name: 'c', usage: { cpu: '1' } }] }],
    },
    customMetrics: {
      podValues: async () => new Map([['p0', 3000]]),
      objectValue: () => Promise.reject(new Error('down')),
      externalValues: async () => [1000, 500],
    },
  }
  const autoscaler: HorizontalPodAutoscaler = {
    spec: {
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        { type: 'Pods', pods: { metric: { name: 'jobs' }, target: { type: 'AverageValue', averageValue: '1' } } },
        { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1500m' } } },
        {
          type: 'Object',
          object: { metric: { name: 'hits' }, describedObject: { kind: 'Ingress', name: 'i' }, target: { type: 'Value', value: '1' } },
        },
      ],
    },
  }
  const target = {
    namespace: 'n',
    selector: compileLabelSelector('a=b'),
    pods: ruleOf(['ready 1']).pods,
    specReplicas: 1,
    statusReplicas: 1,
    nowMs,
  }
  const { replicas, metric, statuses, errors } = await proposeReplicas(autoscaler, sources, target)
  assert.deepEqual([replicas, metric], [3, 'pods metric jobs'])
  assert.deepEqual(statuses, [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '1' } } },
    { type: 'Pods', pods: { metric: { name: 'jobs' }, current: { averageValue: '3' } } },
    { type: 'External', external: { metric: { name: 'queue' }, current: { value: '1500m' } } },
    { type: '' },
  ])
  assert.deepEqual(
    errors.map(({ reason }) => reason),
    ['FailedGetObjectMetric'],
  )
})

test('texts of errors: the prefix is in the event of the failed evaluation only', async () => {
  const down = (): Promise<never> => Promise.reject(new Error('down'))
  const sources: MetricSources = {
    podMetrics: { usageOf: down },
    customMetrics: { podValues: down, objectValue: down, externalValues: down },
  }
  const external = (name: string, target: object) => ({ type: 'External', external: { metric: { name }, target } })
  const containerResource = { name: 'cpu', container: 'main', target: { type: 'Utilization', averageUtilization: 50 } }
  const metrics = [external('a', { averageValue: '1' }), external('b', { value: '1' }), { type: 'ContainerResource', containerResource }]
  const target = { namespace: 'n', selector: compileLabelSelector('a=b'), pods: [], specReplicas: 1, statusReplicas: 1, nowMs }
  const { errors } = await proposeReplicas({ spec: { metrics } } as HorizontalPodAutoscaler, sources, target)
  const why = 'unable to fetch metrics from external metrics API: down'
  assert.deepEqual(
    errors.map(({ message, prefix }) => [prefix, message]),
    [
      ['failed to get a external metric value: failed to get a external metric: ', `unable to get external metric n/a/nil: ${why}`],
      ['failed to get b external metric value: failed to get external metric b: ', `unable to get external metric n/b/nil: ${why}`],
      [
        'failed to get main container metric value: ',
        'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: down',
      ],
    ],
  )
})

const minute = 60_000
const autoscalerOf = (behavior?: NonNullable<HorizontalPodAutoscaler['spec']>['behavior']): HorizontalPodAutoscaler => ({
  spec: { minReplicas: 2, maxReplicas: 20, ...(behavior === undefined ? {} : { behavior }) },
})

const limits: readonly (readonly [title: string, current: number, desired: number, replicas: number, reason: string])[] = [
  ['within the range', 5, 8, 8, 'DesiredWithinRange'],
  ['at most twice as many', 5, 15, 10, 'ScaleUpLimit'],
  ['at least four', 1, 15, 4, 'ScaleUpLimit'],
  ['the maximum', 15, 40, 20, 'TooManyReplicas'],
  ['the minimum', 2, 1, 2, 'TooFewReplicas'],
]

for (const [title, current, desired, replicas, reason] of limits) {
  test(`limits without behavior: ${title}`, () => {
    const found = limit(autoscalerOf(), newHistory(desired, nowMs), { current, desired, min: 2, nowMs })
    assert.deepEqual([found.replicas, found.limited.reason], [replicas, reason])
  })
}

test('a lower recommendation waits for the stabilization window', () => {
  const history = newHistory(8, nowMs)
  const at = (ms: number) => limit(autoscalerOf(), history, { current: 8, desired: 3, min: 2, nowMs: nowMs + ms })
  const { replicas, able } = at(minute)
  assert.deepEqual([replicas, able.reason], [8, 'ScaleDownStabilized'])
  assert.deepEqual([at(5 * minute + 1).replicas, at(5 * minute + 2).able.reason], [3, 'ReadyForNewScale'])
})

test('policies limit the change per period; Disabled forbids it', () => {
  const policies = [
    { type: 'Pods', value: 2, periodSeconds: 60 },
    { type: 'Percent', value: 50, periodSeconds: 60 },
  ]
  const rules = (selectPolicy: string) => ({ selectPolicy, stabilizationWindowSeconds: 0, policies })
  const limited = (selectPolicy: string, desired: number) => {
    const of = autoscalerOf({ scaleUp: rules(selectPolicy), scaleDown: rules(selectPolicy) })
    return limit(of, newHistory(desired, nowMs), { current: 10, desired, min: 2, nowMs })
  }
  const shown = (selectPolicy: string, desired: number) => {
    const { replicas, limited: reason } = limited(selectPolicy, desired)
    return `${replicas} ${reason.reason}`
  }
  assert.deepEqual([shown('Max', 20), shown('Min', 20), shown('Disabled', 20)], ['15 ScaleUpLimit', '12 ScaleUpLimit', '10 ScaleUpLimit'])
  assert.deepEqual([shown('Max', 1), shown('Min', 1), shown('Disabled', 1)], ['5 ScaleDownLimit', '8 ScaleDownLimit', '10 ScaleDownLimit'])
  const of = autoscalerOf({ scaleUp: rules('Min'), scaleDown: rules('Min') })
  const history = newHistory(20, nowMs)
  noteScaling(of, history, { from: 10, to: 12, nowMs })
  const next = (ms: number) => limit(of, history, { current: 12, desired: 20, min: 2, nowMs: nowMs + ms }).replicas
  assert.deepEqual([next(minute / 2), next(minute + 1)], [12, 14])
})
