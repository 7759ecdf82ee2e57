// Validation of HorizontalPodAutoscalers in v2, whichever version was sent.

import type { FeatureGates } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import {
  checkEach,
  checkNotNegative,
  checkOptional,
  checkOptionalChoice,
  checkText,
  joined,
  noErrors,
  pathSegmentProblems,
} from '../../api/validation/checks.js'
import { checkPositive } from '../../api/validation/ranges.js'
import { own } from '../../base/own-property.js'
import { isZeroQuantity, parseQuantity } from '../../schema/quantity.js'
import { isNegative } from '../core/pod-spec/resource-requirements.js'
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
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

function validateMetrics({ metrics = [], minReplicas }: HorizontalPodAutoscalerSpec, field: string, gates: FeatureGates) {
  const canReachZero = metrics.some(({ type }) => type === 'Object' || type === 'External')
  return joined(
    checkEach(metrics, field, (metric, at) => validateMetric(metric, at, gates)),
    minReplicas === 0 && !canReachZero
      ? [forbidden(field, 'must specify at least one Object or External metric to support scaling to zero replicas')]
      : noErrors,
  )
}

const sources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

function validateMetric(metric: MetricSpec, field: string, gates: FeatureGates): readonly FieldError[] {
  const { type = '' } = metric
  const present = sources.filter((name) => metric[name] !== undefined)
  const [first] = present
  const expected = own(sourceOfType, type)
  // An unknown type is reported twice, as in kube-apiserver.
  const unknown = expected === undefined ? [notSupported(`${field}.type`, type, types)] : noErrors
  return joined(
    type === '' ? [required(`${field}.type`, 'must specify a metric source type')] : noErrors,
    unknown,
    first === undefined ? noErrors : validateSource(metric, first, `${field}.${first}`),
    expected !== undefined && metric[expected] === undefined
      ? [required(`${field}.${expected}`, missingProblem(expected, gates))]
      : unknown,
    present.length === 1
      ? noErrors
      : present
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
      return joined(validateResourceName(metric.resource ?? {}, field), validateResourceSource(metric.resource ?? {}, field))
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
    validateResourceSource(source, field),
  )

/** Requires either an average value or a utilization. */
function validateResourceSource({ target = {} }: ResourceMetricSource, field: string): readonly FieldError[] {
  const [hasUtilization, hasAverageValue] = [target.averageUtilization !== undefined, target.averageValue !== undefined]
  return joined(
    validateTarget(target, `${field}.target`),
    !hasUtilization && !hasAverageValue
      ? [required(`${field}.target.averageUtilization`, 'must set either a target raw value or a target utilization')]
      : noErrors,
    hasUtilization && hasAverageValue
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

const pathSegment = (text: string): readonly string[] => pathSegmentProblems(text, false)

const validateIdentifier = ({ name = '' }: MetricIdentifier, field: string): readonly FieldError[] =>
  name === '' ? [required(`${field}.name`, 'must specify a metric name')] : checkText(name, `${field}.name`, pathSegment)

const validateReference = ({ kind = '', name = '' }: CrossVersionObjectReference, field: string): readonly FieldError[] =>
  joined(
    kind === '' ? [required(`${field}.kind`)] : checkText(kind, `${field}.kind`, pathSegment),
    name === '' ? [required(`${field}.name`)] : checkText(name, `${field}.name`, pathSegment),
  )

interface AutoscalerRules {
  readonly gates: FeatureGates
  /** minReplicas 0 of the old object may stay. */
  readonly old?: HorizontalPodAutoscaler
}

export function validateAutoscaler({ spec = {} }: HorizontalPodAutoscaler, { gates, old }: AutoscalerRules): readonly FieldError[] {
  const minAllowed = gates('HPAScaleToZero') || old?.spec?.minReplicas === 0 ? 0 : 1
  return joined(
    validateBounds(spec, minAllowed),
    validateReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef'),
    validateMetrics(spec, 'spec.metrics', gates),
    checkOptional(spec.behavior, 'spec.behavior', validateBehavior),
  )
}

function validateBounds({ minReplicas, maxReplicas = 0 }: HorizontalPodAutoscalerSpec, minAllowed: number): readonly FieldError[] {
  return joined(
    minReplicas !== undefined && minReplicas < minAllowed
      ? [invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${minAllowed}`)]
      : noErrors,
    maxReplicas < 1 ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0')] : noErrors,
    minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : noErrors,
  )
}

const validateBehavior = ({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior, field: string): readonly FieldError[] =>
  joined(checkOptional(scaleUp, `${field}.scaleUp`, validateScaling), checkOptional(scaleDown, `${field}.scaleDown`, validateScaling))

const maxWindowSeconds = 3600
const maxPeriodSeconds = 1800
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

function validateScaling({ stabilizationWindowSeconds: window = 0, selectPolicy, policies = [] }: HPAScalingRules, field: string) {
  const at = `${field}.stabilizationWindowSeconds`
  return joined(
    window < 0 ? [invalid(at, window, 'must be greater than or equal to zero')] : noErrors,
    window > maxWindowSeconds ? [invalid(at, window, `must be less than or equal to ${maxWindowSeconds}`)] : noErrors,
    checkOptionalChoice(selectPolicy, `${field}.selectPolicy`, selectPolicies),
    policies.length === 0 ? [required(`${field}.policies`, 'must specify at least one Policy')] : noErrors,
    checkEach(policies, `${field}.policies`, validatePolicy),
  )
}

const validatePolicy = ({ type = '', value = 0, periodSeconds = 0 }: HPAScalingPolicy, field: string): readonly FieldError[] =>
  joined(
    checkOptionalChoice(type, `${field}.type`, policyTypes),
    checkPositive(value, `${field}.value`),
    checkPositive(periodSeconds, `${field}.periodSeconds`),
    periodSeconds > maxPeriodSeconds
      ? [invalid(`${field}.periodSeconds`, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`)]
      : noErrors,
  )

export const validateAutoscalerStatus = ({ status = {} }: HorizontalPodAutoscaler): readonly FieldError[] =>
  joined(
    checkNotNegative(status.currentReplicas ?? 0, 'status.currentReplicas'),
    checkNotNegative(status.desiredReplicas ?? 0, 'status.desiredReplicas'),
  )
