// What an autoscaler must be. Looked at in the form of the second version, whichever one was sent.

import type { FeatureGates } from '../../api/definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkEach, checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { checkPositive } from '../../api/validation/ranges.js'
import { validateMetrics, validateReference } from './metric-rules.js'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from './v2.schema.js'

export interface AutoscalerRules {
  readonly gates: FeatureGates
  /** An autoscaler that has been at zero may stay there. */
  readonly old?: HorizontalPodAutoscaler
}

export function validateAutoscaler({ spec = {} }: HorizontalPodAutoscaler, { gates, old }: AutoscalerRules): readonly FieldError[] {
  const lowest = gates('HPAScaleToZero') || old?.spec?.minReplicas === 0 ? 0 : 1
  return joined(
    validateBounds(spec, lowest),
    validateReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef'),
    validateMetrics(spec, 'spec.metrics', gates),
    checkPart(spec.behavior, 'spec.behavior', validateBehavior),
  )
}

function validateBounds({ minReplicas, maxReplicas = 0 }: HorizontalPodAutoscalerSpec, lowest: number): readonly FieldError[] {
  return joined(
    minReplicas !== undefined && minReplicas < lowest
      ? [invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${lowest}`)]
      : noErrors,
    maxReplicas < 1 ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0')] : noErrors,
    minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : noErrors,
  )
}

const validateBehavior = ({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior, field: string): readonly FieldError[] =>
  joined(checkPart(scaleUp, `${field}.scaleUp`, validateScaling), checkPart(scaleDown, `${field}.scaleDown`, validateScaling))

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
