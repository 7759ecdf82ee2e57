// Tests of HorizontalPodAutoscalers: lossless conversion, defaults, validation, status, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { frozen } from '../../api/rule-context.fixture.js'
import { contextWith, type Row } from '../core/pod-spec/pod-spec.fixture.js'
import { testMetadata, writerOf } from '../core/workload/workload.fixture.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { horizontalPodAutoscaler, withV1Defaults, withV2Defaults } from './horizontal-pod-autoscaler.js'
import { toV1, toV2 } from './horizontal-pod-autoscaler-conversion.js'
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

const roundTrips: readonly (readonly [title: string, object: V2])[] = [
  ['a CPU metric', v2({ metrics: [cpu(70)] })],
  ['metrics of all types', v2({ metrics: [...others, cpu(70)] })],
  ['a memory metric only', v2({ metrics: [memory] })],
  ['scale-down behavior', v2({ behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } })],
  ['a status', v2({}, { status: { currentReplicas: 2, currentMetrics: current, conditions: [{ type: 'AbleToScale', status: 'True' }] } })],
  ['annotations of the user', v2({}, { metadata: { ...metadata, annotations: { a: 'b' } } })],
]
for (const [title, object] of roundTrips) {
  test(`an autoscaler with ${title} survives the round trip between v1 and v2`, () =>
    assert.deepEqual(toV2(toV1(object, identity), identity), object))
}

test('v1 has fields for CPU and annotations for other metrics', () => {
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

test('unreadable annotations are dropped', () => {
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

test('in v1, CPU is the default metric', () => {
  const filled = withV1Defaults({ metadata, spec: { scaleTargetRef } }, identity)
  assert.deepEqual(filled.spec, { scaleTargetRef, minReplicas: 1, targetCPUUtilizationPercentage: 80 })
  assert.equal(withV1Defaults(filled, identity), filled)
  const stored = toV1(v2({ metrics: others }), identity)
  assert.equal(withV1Defaults(stored, identity), stored)
  assert.equal(stored.spec?.targetCPUUtilizationPercentage, undefined)
})

test('in v2, a behavior is defaulted', () => {
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

const metricField = 'spec.metrics[0]'
const missingSource = 'must populate information for the given metric source'
const rows: readonly Row<HorizontalPodAutoscalerSpec>[] = [
  [{ metrics: [...others, cpu(1)] }],
  [
    { minReplicas: -1, maxReplicas: -2, scaleTargetRef: { name: 'a/b' } },
    'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
    'spec.maxReplicas: Invalid value: -2: must be greater than 0',
    'spec.maxReplicas: Invalid value: -2: must be greater than or equal to `minReplicas`',
    'spec.scaleTargetRef.kind: Required value',
    'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  [{ minReplicas: 0 }, 'spec.metrics: Forbidden: must specify at least one Object or External metric'],
  [{ minReplicas: 0, metrics: [others[3] as MetricSpec] }],
  [
    { metrics: [{}] },
    `${metricField}.type: Required value: must specify a metric source type`,
    `${metricField}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    `${metricField}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
  ],
  [
    { metrics: [{ type: 'constructor' }] },
    ...Array.from(
      { length: 2 },
      () =>
        `${metricField}.type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
    ),
  ],
  [
    { metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '-1' } } }] },
    `${metricField}.pods.target.averageValue: Invalid value: "-1": must be positive`,
  ],
  [{ metrics: [{ type: 'Pods' }] }, `${metricField}.pods: Required value: ${missingSource}`],
  [{ metrics: [{ ...memory, pods: others[1]?.pods ?? {} }] }, `${metricField}.pods: Forbidden: must populate the given metric source only`],
  [
    {
      metrics: [
        { type: 'Resource', resource: { target: { averageUtilization: 0, averageValue: '0' } } },
        { type: 'Pods', pods: { metric: { name: '..' }, target: { type: 'Value', value: '-1' } } },
        { type: 'External', external: { target: { type: 'Best', value: '1', averageValue: '1' } } },
        { type: 'Object', object: {} },
        { type: 'ContainerResource', containerResource: { name: 'cpu', target: { type: 'Utilization' } } },
      ],
    },
    `${metricField}.resource.name: Required value: must specify a resource name`,
    `${metricField}.resource.target.type: Required value: must specify a metric target type`,
    `${metricField}.resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
    `${metricField}.resource.target.averageValue: Invalid value: "0": must be positive`,
    `${metricField}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
    `${metricField}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization`,
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
  [
    {
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 3601, selectPolicy: 'Best', policies: [{ type: 'Hope', periodSeconds: 1801 }] },
        scaleDown: { stabilizationWindowSeconds: -1 },
      },
    },
    'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
    'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Best": supported values: "Disabled", "Max", "Min"',
    'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Hope": supported values: "Percent", "Pods"',
    'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
    'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
  ],
]
const validate = (object: V2, rules = context) => horizontalPodAutoscaler.validate?.(object, rules) ?? []
for (const [given, ...expected] of rows) test(`create: ${rowTitle(given, expected)}`, () => expectErrors(validate(v2(given)), expected))

test('without feature gates, minReplicas is at least 1 and container metrics are rejected', () => {
  const without = contextWith({ identity, gates: () => false })
  const writer = writerOf<V2>(horizontalPodAutoscaler, without)
  const object = writer.create(v2({ minReplicas: 0, metrics: [others[4] as MetricSpec] }))
  expectErrors(validate(object, without), [
    'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    `${metricField}.containerResource: Required value: ${missingSource} (only allowed when HPAContainerMetrics feature is enabled)`,
    'spec.metrics: Forbidden',
  ])
  const old = v2({ minReplicas: 0, metrics: [others[3] as MetricSpec] })
  expectErrors(writer.updateErrors(old, old), [])
})

test('spec and status are updated separately', () => {
  const status = { currentReplicas: 2, currentMetrics: current }
  const old = v2({ metrics: [memory] }, { status })
  const created = create(old)
  assert.deepEqual(created.status, {})
  const next = update(v2({ metrics: others }, { status: {} }), old)
  assert.deepEqual([next.status, next.spec?.metrics], [status, others])
  const reported = part('status').prepareUpdate(v2({ metrics: others }, { status: { currentReplicas: 5 } }), old, context)
  assert.deepEqual([reported.status, reported.spec?.metrics], [{ currentReplicas: 5 }, [memory]])
  expectErrors(updateErrors(old, old), [])
  expectErrors(statusErrors({ status: { currentReplicas: -1, desiredReplicas: -1 } }, old), [
    'status.currentReplicas: Invalid',
    'status.desiredReplicas: Invalid',
  ])
})

test('validation uses the order of metrics in v2; clients get objects as if v1 were stored', () => {
  const order = [cpu(70), memory, ...others.slice(1), cpu(80)]
  const [latest, first] = horizontalPodAutoscaler.versions
  assert.deepEqual([latest?.name, latest?.stored, first?.stored, horizontalPodAutoscaler.hashedVersion], ['v2', true, undefined, 'v1'])
  assert.deepEqual(create(v2({ metrics: order })).spec?.metrics, order)
  const converted = latest?.fromStored?.(v2({ metrics: order }) as never, identity) as V2
  assert.deepEqual(converted.spec?.metrics, [memory, ...others.slice(1), cpu(70)])
  const shown = first?.fromStored?.(v2({ metrics: order }) as never, identity) as V1
  assert.equal(shown.spec?.targetCPUUtilizationPercentage, 70)
})

const texts: readonly (readonly [title: string, object: V2, expected: string])[] = [
  ['metrics without current values', v2({ metrics: [memory, cpu(70)] }), '<unknown>/1Gi, <unknown>/70%'],
  ['a CPU metric with its current value', v2({ metrics: [cpu(70)] }, { status: { currentMetrics: current } }), '33%/70%'],
  ['more than two metrics', v2({ metrics: others }), '<unknown>/1Gi, <unknown>/5 + 3 more...'],
  [
    'Object and External metrics',
    v2({ metrics: [others[2] as MetricSpec, others[3] as MetricSpec] }, { status: { currentMetrics: current.slice(2) } }),
    '6/7, 2/9 (avg)',
  ],
]
for (const [title, object, expected] of texts) {
  test(`printer columns of ${title}`, () => {
    assert.deepEqual(horizontalPodAutoscaler.table?.cells(object, context), ['a', 'Deployment/d', expected, '1', 3, 0, '90s'])
  })
}
