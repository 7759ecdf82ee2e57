// StatefulSet: defaults, update strategy, claim templates, feature-gated fields, printer columns.

import { defineResource, type FeatureGates, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { fromSelectorObject } from '../../api/selectors/label-selector.js'
import {
  checkNotNegative,
  checkOptional,
  checkOptionalChoice,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../api/validation/checks.js'
import { amountOf, checkAtMost100Percent, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { isEmptySelector } from '../../api/validation/label-selector.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { templateWithoutGatedFields } from '../core/pod-spec/feature-gated-fields.js'
import { withClaimDefaults, withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { claimWarnings } from '../core/pod-spec/pod-warnings.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import type { PersistentVolumeClaim } from '../core/v1.schema.js'
import {
  checkCollisions,
  checkCounts,
  checkReplicaCounts,
  checkRestartAlways,
  checkSelectorMatches,
  isUsableSelector,
  specTemplateWarnings,
  validateTemplateMetadata,
  validateWorkloadSelector,
  workloadColumns,
} from '../core/workload/workload.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import {
  type RollingUpdateStatefulSetStrategy,
  type StatefulSet,
  type StatefulSetSpec,
  type StatefulSetUpdateStrategy,
  statefulSet as schema,
  statefulSetSpec as specSchema,
} from './v1.schema.js'

const retentionPolicies = ['Retain', 'Delete']

function validateStatefulSet({ spec = {} }: StatefulSet, context: RuleContext): readonly FieldError[] {
  return joined(
    validatePodManagement(spec.podManagementPolicy ?? '', 'spec.podManagementPolicy'),
    validateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy'),
    checkOptional(spec.persistentVolumeClaimRetentionPolicy, 'spec.persistentVolumeClaimRetentionPolicy', (policy, at) =>
      joined(
        checkOptionalChoice(policy.whenDeleted ?? '', `${at}.whenDeleted`, retentionPolicies),
        checkOptionalChoice(policy.whenScaled ?? '', `${at}.whenScaled`, retentionPolicies),
      ),
    ),
    checkNotNegative(spec.replicas ?? 0, 'spec.replicas'),
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    checkNotNegative(spec.ordinals?.start ?? 0, 'spec.ordinals.start'),
    validateTemplate(spec, context),
    checkRestartAlways(spec.template ?? {}, 'spec.template', 'StatefulSet'),
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
      return checkOptional(rollingUpdate, `${field}.rollingUpdate`, validateRollingUpdate)
    default:
      return [invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")]
  }
}

function validateRollingUpdate({ partition = 0, maxUnavailable }: RollingUpdateStatefulSetStrategy, field: string): readonly FieldError[] {
  const at = `${field}.maxUnavailable`
  return joined(
    checkNotNegative(partition, `${field}.partition`),
    checkOptional(maxUnavailable, at, checkIntOrPercent),
    maxUnavailable !== undefined && amountOf(maxUnavailable) === 0 ? [invalid(at, maxUnavailable, 'cannot be 0')] : noErrors,
    checkOptional(maxUnavailable, at, checkAtMost100Percent),
  )
}

function validateTemplate({ selector, template = {} }: StatefulSetSpec, context: RuleContext): readonly FieldError[] {
  const selectorErrors = validateWorkloadSelector(selector, 'spec.selector', 'statefulset')
  if (!isUsableSelector(selector)) return joined(selectorErrors, [invalid('spec.selector', selector)])
  return joined(
    selectorErrors,
    selector !== undefined && isEmptySelector(selector) ? noErrors : checkSelectorMatches(selector, template, 'spec.template'),
    validateTemplateMetadata(template, 'spec.template', context),
  )
}

const mutableFields = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const
const changeProblem = `updates to statefulset spec for fields other than ${mutableFields
  .slice(0, -1)
  .map((name) => `'${name}'`)
  .join(', ')} and '${mutableFields.at(-1)}' are forbidden`

function validateStatefulSetChange(next: StatefulSet, old: StatefulSet): readonly FieldError[] {
  const oldMutableFields = Object.fromEntries(mutableFields.map((name) => [name, old.spec?.[name]])) as StatefulSetSpec
  return sameBySchema(specSchema, { ...next.spec, ...oldMutableFields }, old.spec ?? {}) ? noErrors : [forbidden('spec', changeProblem)]
}

const validateStatefulSetStatus = ({ status = {} }: StatefulSet, old: StatefulSet): readonly FieldError[] =>
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
    checkReplicaCounts(status, ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'], 'status.readyReplicas'),
    checkCollisions(status, old.status ?? {}),
  )

const specDefaults = { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 }

function withStrategyDefaults(
  strategy: StatefulSetSpec['updateStrategy'],
  gates: FeatureGates,
): NonNullable<StatefulSetSpec['updateStrategy']> {
  const withType = strategy?.type === undefined ? { rollingUpdate: {}, ...strategy, type: 'RollingUpdate' } : strategy
  if (withType.type !== 'RollingUpdate') return withType
  const unavailable = gates('MaxUnavailableStatefulSet') ? { maxUnavailable: 1 } : {}
  return withChanged(withType, 'rollingUpdate', (rolling) => withMissing(rolling, { partition: 0, ...unavailable }))
}

/** Sets apiVersion, kind and defaults of a claim template. */
function withClaimTemplateDefaults(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const spec = withClaimDefaults(claim.spec ?? {})
  const status = withMissing(claim.status ?? {}, { phase: 'Pending' })
  const isComplete = claim.kind === 'PersistentVolumeClaim' && claim.apiVersion === 'v1' && spec === claim.spec && status === claim.status
  return isComplete ? claim : { ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1', spec, status }
}

const retentionDefaults = { whenDeleted: 'Retain', whenScaled: 'Retain' }

function withRetentionDefaults(spec: StatefulSetSpec, gates: FeatureGates): StatefulSetSpec {
  if (!gates('StatefulSetAutoDeletePVC')) return spec
  return withChanged(withMissing(spec, { persistentVolumeClaimRetentionPolicy: {} }), 'persistentVolumeClaimRetentionPolicy', (policy) =>
    withMissing(policy, retentionDefaults),
  )
}

function defaults(set: StatefulSet, { gates, identity }: RuleContext): StatefulSet {
  let spec = withRetentionDefaults(withMissing(set.spec ?? {}, specDefaults), gates)
  spec = withChanged(spec, 'volumeClaimTemplates', (claims) => mapItems(claims, withClaimTemplateDefaults))
  const updateStrategy = withStrategyDefaults(spec.updateStrategy, gates)
  const template = withTemplateDefaults(spec.template, identity)
  if (updateStrategy !== spec.updateStrategy || template !== spec.template) spec = { ...spec, updateStrategy, template }
  return spec === set.spec ? set : { ...set, spec }
}

/** Drops fields of disabled feature gates, unless the old object has them. */
function withoutGated(set: StatefulSet, old: StatefulSet | undefined, { gates }: RuleContext): StatefulSet {
  const { ordinals, persistentVolumeClaimRetentionPolicy, ...rest } = set.spec ?? {}
  const keeps = (gate: string, isUsed: boolean): boolean => gates(gate) || isUsed
  const spec: StatefulSetSpec = { ...rest, template: templateWithoutGatedFields(rest.template ?? {}, old?.spec?.template, gates) }
  const keepsMaxUnavailable = keeps('MaxUnavailableStatefulSet', old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable !== undefined)
  return {
    ...set,
    spec: {
      ...(keepsMaxUnavailable ? spec : withChanged(spec, 'updateStrategy', withoutMaxUnavailable)),
      ...(ordinals !== undefined && keeps('StatefulSetStartOrdinal', old?.spec?.ordinals !== undefined) ? { ordinals } : {}),
      ...(persistentVolumeClaimRetentionPolicy !== undefined &&
      keeps('StatefulSetAutoDeletePVC', old?.spec?.persistentVolumeClaimRetentionPolicy !== undefined)
        ? { persistentVolumeClaimRetentionPolicy }
        : {}),
    },
  }
}

const withoutMaxUnavailable = (strategy: NonNullable<StatefulSetSpec['updateStrategy']>): typeof strategy =>
  withChanged(strategy, 'rollingUpdate', ({ maxUnavailable: _, ...rolling }) => rolling)

const prepareUpdate = (next: StatefulSet, old: StatefulSet, context: RuleContext): StatefulSet =>
  withKeptStatus(withoutGated(next, old, context), old, specSchema)

export const statefulSet = defineResource<StatefulSet>({
  group: 'apps',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate,
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetChange,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  warnings: (next, old, context) => [
    ...specTemplateWarnings(next, old, context),
    // On update, the field path in the warning of kube-apiserver ends with `.Spec`.
    ...(next.spec?.volumeClaimTemplates ?? []).flatMap(({ spec }, i) =>
      claimWarnings(spec, `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`),
    ),
  ],
  resetFields: ['status'],
  subresources: [
    scaleSubresource<StatefulSet>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validateStatefulSet(next, context), validateStatefulSetChange(next, old)),
    }),
    statusSubresource<StatefulSet>({ validateUpdate: validateStatefulSetStatus }),
  ],
  table: tableOf<StatefulSet>(
    nameColumn,
    textColumn(
      'Ready',
      'Ready pods out of the desired number.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    ageColumn,
    ...workloadColumns<StatefulSet>(({ spec }) => spec?.template),
  ),
})
