// Autoscalers: two versions without loss, defaults of both, rules of metrics and behaviour, status in annotations, and rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { frozen } from '../../api/rule-context.fixture.js'
import { assertFound, contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload.fixture.js'
import { toV1, toV2 } from './autoscaler-conversion.js'
import { withV1Defaults, withV2Defaults } from './autoscaler-defaults.js'
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.js'
import type { HorizontalPodAutoscaler as V1 } from './v1.schema.js'
import type { HorizontalPodAutoscalerSpec, MetricSpec, MetricStatus, HorizontalPodAutoscaler as V2 } from './v2.schema.js'

const identity = identityOf('kubernetes')
const context = contextWith({ identity })
const { create, update, part, updateErrors, statusErrors } = writerOf<V2>(horizontalPodAutoscaler, context)
const scaleTargetRef = { kind: 'Deployment', name: 'd' }
const metadata = testMetadata
const v2 = (spec: HorizontalPodAutoscalerSpec = {}, more: V2 = {}): V2 =>
  frozen(withV2Defaults({ metadata, spec: { scaleTargetRef, maxReplicas: 3, ...spec }, status: {}, ...more }))

const cpu = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
const memory: MetricSpec = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } }
const others: readonly MetricSpec[] = [
  memory,
  {
    type: 'Pods',
    pods: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: '5' } },
  },
  {
    type: 'Object',
    object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target: { type: 'Value', value: '7' } },
  },
  { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '9' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
  },
]
const current: readonly MetricStatus[] = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 33, averageValue: '100m' } } },
  { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '4' } } },
  { type: 'Object', object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, current: { value: '6' } } },
  { type: 'External', external: { metric: { name: 'q' }, current: { value: '8', averageValue: '2' } } },
]

const trips: readonly { readonly title: string; readonly object: V2 }[] = [
  { title: 'the usual', object: v2({ metrics: [cpu(70)] }) },
  { title: 'all sorts of metrics', object: v2({ metrics: [...others, cpu(70)] }) },
  { title: 'no CPU', object: v2({ metrics: [memory] }) },
  { title: 'a behaviour', object: v2({ behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } }) },
  {
    title: 'a status',
    object: v2({}, { status: { currentReplicas: 2, currentMetrics: current, conditions: [{ type: 'AbleToScale', status: 'True' }] } }),
  },
  { title: 'annotations of its own', object: v2({}, { metadata: { ...metadata, annotations: { a: 'b' } } }) },
]
for (const { title, object } of trips) {
  test(`an autoscaler with ${title} comes back as it went`, () => assert.deepEqual(toV2(toV1(object, identity), identity), object))
}

test('the older version has fields for CPU and annotations for the rest', () => {
  const behavior = {
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }] },
    scaleDown: { selectPolicy: 'Max' },
  }
  const object = toV1(
    { metadata, spec: { scaleTargetRef, metrics: [memory, cpu(70)], behavior }, status: { currentMetrics: current.slice(0, 1) } },
    identity,
  )
  assert.deepEqual(object.spec, { scaleTargetRef, targetCPUUtilizationPercentage: 70 })
  assert.deepEqual(object.status, { currentCPUUtilizationPercentage: 33 })
  assert.deepEqual(object.metadata?.annotations, {
    'autoscaling.alpha.kubernetes.io/behavior':
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}]},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":null}}',
    'autoscaling.alpha.kubernetes.io/current-metrics':
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":33,"currentAverageValue":"100m"}}]',
    'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
  })
})

test('annotations that nobody can read are dropped', () => {
  const annotations = {
    'autoscaling.alpha.kubernetes.io/metrics': '{',
    'autoscaling.alpha.kubernetes.io/behavior': '[]',
    'autoscaling.alpha.kubernetes.io/conditions': '[{"type":5}]',
    keep: 'x',
  }
  const object = toV2({ metadata: { ...metadata, annotations }, spec: {} }, identity)
  assert.deepEqual(object.metadata?.annotations, { keep: 'x' })
  assert.deepEqual(object.spec, { metrics: [cpu(80)] })
})

test('in the older version, CPU is the metric where there is no other', () => {
  const filled = withV1Defaults({ metadata, spec: { scaleTargetRef } }, identity)
  assert.deepEqual(filled.spec, { scaleTargetRef, minReplicas: 1, targetCPUUtilizationPercentage: 80 })
  assert.equal(withV1Defaults(filled, identity), filled)
  const stored = toV1(v2({ metrics: others }), identity)
  assert.equal(withV1Defaults(stored, identity), stored)
  assert.equal(stored.spec?.targetCPUUtilizationPercentage, undefined)
})

test('in the newer version, a behaviour is completed where there is one', () => {
  assert.deepEqual(withV2Defaults({ spec: {} }).spec, { minReplicas: 1, metrics: [cpu(80)] })
  assert.deepEqual(withV2Defaults({ spec: { behavior: { scaleDown: { selectPolicy: 'Min' } } } }).spec?.behavior, {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    },
    scaleDown: { selectPolicy: 'Min', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
  })
})

const m = 'spec.metrics[0]'
const source = 'must populate information for the given metric source'
const rows: readonly Row<HorizontalPodAutoscalerSpec>[] = [
  { title: 'nothing wrong', given: { metrics: [...others, cpu(1)] }, found: [] },
  {
    title: 'bounds that meet nowhere',
    given: { minReplicas: -1, maxReplicas: -2, scaleTargetRef: { name: 'a/b' } },
    found: [
      'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.maxReplicas: Invalid value: -2: must be greater than 0',
      'spec.maxReplicas: Invalid value: -2: must be greater than or equal to `minReplicas`',
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
    ],
  },
  {
    title: 'zero by CPU',
    given: { minReplicas: 0 },
    found: ['spec.metrics: Forbidden: must specify at least one Object or External metric'],
  },
  { title: 'zero by a queue', given: { minReplicas: 0, metrics: [others[3] as MetricSpec] }, found: [] },
  {
    title: 'a metric of no type',
    given: { metrics: [{}] },
    found: [
      `${m}.type: Required value: must specify a metric source type`,
      `${m}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
      `${m}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    ],
  },
  {
    title: 'a metric of a type by a name that every object of the language knows',
    given: { metrics: [{ type: 'constructor' }] },
    found: Array.from(
      { length: 2 },
      () => `${m}.type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    ),
  },
  {
    title: 'a target below zero',
    given: { metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '-1' } } }] },
    found: [`${m}.pods.target.averageValue: Invalid value: "-1": must be positive`],
  },
  { title: 'a metric without its source', given: { metrics: [{ type: 'Pods' }] }, found: [`${m}.pods: Required value: ${source}`] },
  {
    title: 'a metric with two sources',
    given: { metrics: [{ ...memory, pods: others[1]?.pods ?? {} }] },
    found: [`${m}.pods: Forbidden: must populate the given metric source only`],
  },
  {
    title: 'targets that cannot be',
    given: {
      metrics: [
        { type: 'Resource', resource: { target: { averageUtilization: 0, averageValue: '0' } } },
        { type: 'Pods', pods: { metric: { name: '..' }, target: { type: 'Value', value: '-1' } } },
        { type: 'External', external: { target: { type: 'Best', value: '1', averageValue: '1' } } },
        { type: 'Object', object: {} },
        { type: 'ContainerResource', containerResource: { name: 'cpu', target: { type: 'Utilization' } } },
      ],
    },
    found: [
      `${m}.resource.name: Required value: must specify a resource name`,
      `${m}.resource.target.type: Required value: must specify a metric target type`,
      `${m}.resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
      `${m}.resource.target.averageValue: Invalid value: "0": must be positive`,
      `${m}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
      `${m}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization`,
      'spec.metrics[1].pods.metric.name: Invalid value: "..": may not be \'..\'',
      'spec.metrics[1].pods.target.value: Invalid value: "-1": must be positive',
      'spec.metrics[1].pods.target.averageValue: Required value: must specify a positive target averageValue',
      'spec.metrics[2].external.metric.name: Required value: must specify a metric name',
      'spec.metrics[2].external.target.type: Invalid value: "Best": must be either Utilization, Value, or AverageValue',
      'spec.metrics[2].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
      'spec.metrics[3].object.describedObject.kind: Required value',
      'spec.metrics[3].object.describedObject.name: Required value',
      'spec.metrics[3].object.metric.name: Required value',
      'spec.metrics[3].object.target.type: Required value: must specify a metric target type',
      'spec.metrics[3].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[3].object.target.averageValue: Required value: must set either a target value or averageValue',
      'spec.metrics[4].containerResource.container: Required value: must specify a container',
      'spec.metrics[4].containerResource.target.averageUtilization: Required value: must set either',
    ],
  },
  {
    title: 'a behaviour that is none',
    given: {
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 3601, selectPolicy: 'Best', policies: [{ type: 'Hope', periodSeconds: 1801 }] },
        scaleDown: { stabilizationWindowSeconds: -1 },
      },
    },
    found: [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Best": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Hope": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
    ],
  },
]
const validate = (object: V2, rules = context) => horizontalPodAutoscaler.validate?.(object, rules) ?? []
for (const { title, given, found } of rows) test(`create with ${title}`, () => assertFound(validate(v2(given)), found))

test('without features, there is at least one pod, and containers are not looked at one by one', () => {
  const without = contextWith({ identity, gates: () => false })
  const writer = writerOf<V2>(horizontalPodAutoscaler, without)
  const object = writer.create(v2({ minReplicas: 0, metrics: [others[4] as MetricSpec] }))
  assertFound(validate(object, without), [
    'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    `${m}.containerResource: Required value: ${source} (only allowed when HPAContainerMetrics feature is enabled)`,
    'spec.metrics: Forbidden',
  ])
  const old = v2({ minReplicas: 0, metrics: [others[3] as MetricSpec] })
  assertFound(writer.updateErrors(old, old), [])
})

test('each door writes its half', () => {
  const status = { currentReplicas: 2, currentMetrics: current }
  const old = v2({ metrics: [memory] }, { status })
  const made = create(old)
  assert.deepEqual(made.status, {})
  const next = update(v2({ metrics: others }, { status: {} }), old)
  assert.deepEqual([next.status, next.spec?.metrics], [status, others])
  const reported = part('status').prepareUpdate(v2({ metrics: others }, { status: { currentReplicas: 5 } }), old, context)
  assert.deepEqual([reported.status, reported.spec?.metrics], [{ currentReplicas: 5 }, [memory]])
  assertFound(updateErrors(old, old), [])
  assertFound(statusErrors({ status: { currentReplicas: -1, desiredReplicas: -1 } }, old), [
    'status.currentReplicas: Invalid',
    'status.desiredReplicas: Invalid',
  ])
})

test('rules see the metrics in the order in which they were sent; clients get them as if the first version were stored', () => {
  const order = [cpu(70), memory, ...others.slice(1), cpu(80)]
  const [latest, first] = horizontalPodAutoscaler.versions
  assert.deepEqual([latest?.name, latest?.stored, first?.stored, horizontalPodAutoscaler.hashedVersion], ['v2', true, undefined, 'v1'])
  assert.deepEqual(create(v2({ metrics: order })).spec?.metrics, order)
  const back = latest?.fromStored?.(v2({ metrics: order }) as never, identity) as V2
  assert.deepEqual(back.spec?.metrics, [memory, ...others.slice(1), cpu(70)])
  const shown = first?.fromStored?.(v2({ metrics: order }) as never, identity) as V1
  assert.equal(shown.spec?.targetCPUUtilizationPercentage, 70)
})

const texts: readonly { readonly title: string; readonly object: V2; readonly wanted: string }[] = [
  { title: 'nothing known', object: v2({ metrics: [memory, cpu(70)] }), wanted: '<unknown>/1Gi, <unknown>/70%' },
  { title: 'CPU', object: v2({ metrics: [cpu(70)] }, { status: { currentMetrics: current } }), wanted: '33%/70%' },
  { title: 'more than fit', object: v2({ metrics: others }), wanted: '<unknown>/1Gi, <unknown>/5 + 3 more...' },
  {
    title: 'queues',
    object: v2({ metrics: [others[2] as MetricSpec, others[3] as MetricSpec] }, { status: { currentMetrics: current.slice(2) } }),
    wanted: '6/7, 2/9 (avg)',
  },
]
for (const { title, object, wanted } of texts) {
  test(`the row of an autoscaler shows ${title}`, () => {
    assert.deepEqual(horizontalPodAutoscaler.table?.cells(object, context), ['a', 'Deployment/d', wanted, '1', 3, 0, '90s'])
  })
}
