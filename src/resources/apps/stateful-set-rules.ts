// What a stateful set must be, and how little of it may change. Its template is not looked into: mounts may name claims of the set.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { amountOf, checkAtMostAll, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { isEmptySelector } from '../../api/validation/label-selector.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { checkRunsForGood, checkSelectorMatches, validateTemplateMetadata } from '../core/pod-template-rules.js'
import { checkCollisions, checkCounts, checkParts } from '../core/replica-counts.js'
import {
  type RollingUpdateStatefulSetStrategy,
  type StatefulSet,
  type StatefulSetSpec,
  type StatefulSetUpdateStrategy,
  statefulSetSpec as specSchema,
} from './v1.schema.js'
import { isUsableSelector, validateWorkloadSelector } from './workload-selector.js'

const retentionPolicies = ['Retain', 'Delete']

export function validateStatefulSet({ spec = {} }: StatefulSet, context: RuleContext): readonly FieldError[] {
  return joined(
    validatePodManagement(spec.podManagementPolicy ?? '', 'spec.podManagementPolicy'),
    validateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy'),
    checkPart(spec.persistentVolumeClaimRetentionPolicy, 'spec.persistentVolumeClaimRetentionPolicy', (policy, at) =>
      joined(
        checkOptionalChoice(policy.whenDeleted ?? '', `${at}.whenDeleted`, retentionPolicies),
        checkOptionalChoice(policy.whenScaled ?? '', `${at}.whenScaled`, retentionPolicies),
      ),
    ),
    checkNotNegative(spec.replicas ?? 0, 'spec.replicas'),
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    checkNotNegative(spec.ordinals?.start ?? 0, 'spec.ordinals.start'),
    validateTemplate(spec, context),
    checkRunsForGood(spec.template ?? {}, 'spec.template', 'StatefulSet'),
  )
}

function validatePodManagement(policy: string, field: string): readonly FieldError[] {
  if (policy === '') return [required(field)]
  return policy === 'OrderedReady' || policy === 'Parallel' ? noErrors : [invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function validateStrategy(strategy: StatefulSetUpdateStrategy, field: string): readonly FieldError[] {
  const { type, rollingUpdate } = strategy
  switch (type) {
    case undefined:
      return [required(field)]
    case 'OnDelete':
      return rollingUpdate === undefined
        ? noErrors
        : [invalid(`${field}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")]
    case 'RollingUpdate':
      return checkPart(rollingUpdate, `${field}.rollingUpdate`, validateRollingUpdate)
    default:
      return [invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")]
  }
}

function validateRollingUpdate({ partition = 0, maxUnavailable }: RollingUpdateStatefulSetStrategy, field: string): readonly FieldError[] {
  const at = `${field}.maxUnavailable`
  return joined(
    checkNotNegative(partition, `${field}.partition`),
    checkPart(maxUnavailable, at, checkIntOrPercent),
    maxUnavailable !== undefined && amountOf(maxUnavailable) === 0 ? [invalid(at, maxUnavailable, 'cannot be 0')] : noErrors,
    checkPart(maxUnavailable, at, checkAtMostAll),
  )
}

function validateTemplate({ selector, template = {} }: StatefulSetSpec, context: RuleContext): readonly FieldError[] {
  const found = validateWorkloadSelector(selector, 'spec.selector', 'statefulset')
  if (!isUsableSelector(selector)) return joined(found, [invalid('spec.selector', selector)])
  return joined(
    found,
    selector !== undefined && isEmptySelector(selector) ? noErrors : checkSelectorMatches(selector, template, 'spec.template'),
    validateTemplateMetadata(template, 'spec.template', context),
  )
}

const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const
const changeProblem = `updates to statefulset spec for fields other than ${changeable
  .slice(0, -1)
  .map((name) => `'${name}'`)
  .join(', ')} and '${changeable.at(-1)}' are forbidden`

export function validateStatefulSetChange(next: StatefulSet, old: StatefulSet): readonly FieldError[] {
  const kept = Object.fromEntries(changeable.map((name) => [name, old.spec?.[name]])) as StatefulSetSpec
  return sameBySchema(specSchema, { ...next.spec, ...kept }, old.spec ?? {}) ? noErrors : [forbidden('spec', changeProblem)]
}

export const validateStatefulSetStatus = ({ status = {} }: StatefulSet, old: StatefulSet): readonly FieldError[] =>
  joined(
    checkCounts(status, [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ]),
    checkParts(status, [
      { name: 'readyReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'currentReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'updatedReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'readyReplicas', shown: 'status.readyReplicas' },
    ]),
    checkCollisions(status, old.status ?? {}),
  )
