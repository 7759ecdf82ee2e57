// The rules of the metrics by which an autoscaler scales: each of one type, with a target that can be reached.

import type { FeatureGates } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { pathSegmentProblems } from '../../api/validation/name-problems.js'
import { own } from '../../base/own.js'
import { isZeroQuantity, parseQuantity } from '../../schema/quantity.js'
import { isNegative } from '../core/pod-spec/quantities.js'
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscalerSpec,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from './v2.schema.js'

const sourceOfType: { readonly [type: string]: Exclude<keyof MetricSpec, 'type'> } = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}
const types = Object.keys(sourceOfType)

export function validateMetrics({ metrics = [], minReplicas }: HorizontalPodAutoscalerSpec, field: string, gates: FeatureGates) {
  const canReachZero = metrics.some(({ type }) => type === 'Object' || type === 'External')
  return joined(
    checkEach(metrics, field, (metric, at) => validateMetric(metric, at, gates)),
    minReplicas === 0 && !canReachZero
      ? [forbidden(field, 'must specify at least one Object or External metric to support scaling to zero replicas')]
      : noErrors,
  )
}

/** In the order in which they are looked at; only the first that is there is looked into. */
const sources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

function validateMetric(metric: MetricSpec, field: string, gates: FeatureGates): readonly FieldError[] {
  const { type = '' } = metric
  const there = sources.filter((name) => metric[name] !== undefined)
  const [first] = there
  const expected = own(sourceOfType, type)
  // Told twice, as in the reference: as a word, and as the name of what should be there.
  const unknown = expected === undefined ? [notSupported(`${field}.type`, type, types)] : noErrors
  return joined(
    type === '' ? [required(`${field}.type`, 'must specify a metric source type')] : noErrors,
    unknown,
    first === undefined ? noErrors : validateSource(metric, first, `${field}.${first}`),
    expected !== undefined && metric[expected] === undefined
      ? [required(`${field}.${expected}`, missingProblem(expected, gates))]
      : unknown,
    there.length === 1
      ? noErrors
      : there
          .filter((name) => name !== expected)
          .map((name) => forbidden(`${field}.${name}`, 'must populate the given metric source only')),
  )
}

function missingProblem(source: string, gates: FeatureGates): string {
  const problem = 'must populate information for the given metric source'
  if (source !== 'containerResource' || gates('HPAContainerMetrics')) return problem
  return `${problem} (only allowed when HPAContainerMetrics feature is enabled)`
}

function validateSource(metric: MetricSpec, source: (typeof sources)[number], field: string): readonly FieldError[] {
  switch (source) {
    case 'object':
      return validateObject(metric.object ?? {}, field)
    case 'external':
      return validateExternal(metric.external ?? {}, field)
    case 'pods':
      return validatePods(metric.pods ?? {}, field)
    case 'resource':
      return joined(validateResourceName(metric.resource ?? {}, field), validateShare(metric.resource ?? {}, field))
    case 'containerResource':
      return validateContainer(metric.containerResource ?? {}, field)
  }
}

const validateResourceName = ({ name = '' }: ResourceMetricSource, field: string): readonly FieldError[] =>
  name === '' ? [required(`${field}.name`, 'must specify a resource name')] : noErrors

const validateContainer = (source: ContainerResourceMetricSource, field: string): readonly FieldError[] =>
  joined(
    validateResourceName(source, field),
    (source.container ?? '') === '' ? [required(`${field}.container`, 'must specify a container')] : noErrors,
    validateShare(source, field),
  )

/** Resources are compared with an amount or with a share of what was asked for. */
function validateShare({ target = {} }: ResourceMetricSource, field: string): readonly FieldError[] {
  const [hasShare, hasAmount] = [target.averageUtilization !== undefined, target.averageValue !== undefined]
  return joined(
    validateTarget(target, `${field}.target`),
    !hasShare && !hasAmount
      ? [required(`${field}.target.averageUtilization`, 'must set either a target raw value or a target utilization')]
      : noErrors,
    hasShare && hasAmount
      ? [forbidden(`${field}.target.averageValue`, 'may not set both a target raw value and a target utilization')]
      : noErrors,
  )
}

const validateObject = ({ describedObject = {}, metric = {}, target = {} }: ObjectMetricSource, field: string): readonly FieldError[] =>
  joined(
    validateReference(describedObject, `${field}.describedObject`),
    validateIdentifier(metric, `${field}.metric`),
    validateTarget(target, `${field}.target`),
    target.value === undefined && target.averageValue === undefined
      ? [required(`${field}.target.averageValue`, 'must set either a target value or averageValue')]
      : noErrors,
  )

function validateExternal({ metric = {}, target = {} }: ExternalMetricSource, field: string): readonly FieldError[] {
  const [hasValue, hasAverage] = [target.value !== undefined, target.averageValue !== undefined]
  return joined(
    validateIdentifier(metric, `${field}.metric`),
    validateTarget(target, `${field}.target`),
    !hasValue && !hasAverage
      ? [required(`${field}.target.averageValue`, 'must set either a target value for metric or a per-pod target')]
      : noErrors,
    hasValue && hasAverage
      ? [forbidden(`${field}.target.value`, 'may not set both a target value for metric and a per-pod target')]
      : noErrors,
  )
}

const validatePods = ({ metric = {}, target = {} }: PodsMetricSource, field: string): readonly FieldError[] =>
  joined(
    validateIdentifier(metric, `${field}.metric`),
    validateTarget(target, `${field}.target`),
    target.averageValue === undefined
      ? [required(`${field}.target.averageValue`, 'must specify a positive target averageValue')]
      : noErrors,
  )

const isPositive = (amount: string | undefined): boolean =>
  amount !== undefined && !isNegative(amount) && !isZeroQuantity(parseQuantity(amount))

const targetTypes = ['Utilization', 'Value', 'AverageValue']

function validateTarget({ type = '', value, averageValue, averageUtilization }: MetricTarget, field: string): readonly FieldError[] {
  return joined(
    type === '' ? [required(`${field}.type`, 'must specify a metric target type')] : noErrors,
    targetTypes.includes(type) ? noErrors : [invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue')],
    value === undefined || isPositive(value) ? noErrors : [invalid(`${field}.value`, value, 'must be positive')],
    averageValue === undefined || isPositive(averageValue)
      ? noErrors
      : [invalid(`${field}.averageValue`, averageValue, 'must be positive')],
    averageUtilization === undefined || averageUtilization >= 1
      ? noErrors
      : [invalid(`${field}.averageUtilization`, averageUtilization, 'must be greater than 0')],
  )
}

const segment = (text: string): readonly string[] => pathSegmentProblems(text, false)

const validateIdentifier = ({ name = '' }: MetricIdentifier, field: string): readonly FieldError[] =>
  name === '' ? [required(`${field}.name`, 'must specify a metric name')] : checkText(name, `${field}.name`, segment)

export const validateReference = ({ kind = '', name = '' }: CrossVersionObjectReference, field: string): readonly FieldError[] =>
  joined(
    kind === '' ? [required(`${field}.kind`)] : checkText(kind, `${field}.kind`, segment),
    name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, segment),
  )
