// DaemonSet: defaults, validation, template generation, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { withMetadata } from '../../api/object.js'
import { checkNotNegative, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { amountOf, checkAtMost100Percent, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { isEmptySelector, validateLabelSelector } from '../../api/validation/label-selector.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import { podTemplateSpec } from '../core/v1.schema.js'
import {
  checkCollisions,
  checkCounts,
  checkRestartAlways,
  checkSameSelector,
  checkSelectorMatches,
  checkSharedDisks,
  describeLabels,
  describeSelector,
  int64AnnotationProblem,
  isUsableSelector,
  specTemplateWarnings,
  validateTemplate,
  withoutGatedTemplate,
  workloadColumns,
} from '../core/workload/workload.js'
import { ageColumn, countColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptSpec, withKeptStatus } from '../status-subresource.js'
import {
  type DaemonSet,
  type DaemonSetUpdateStrategy,
  type RollingUpdateDaemonSet,
  daemonSet as schema,
  daemonSetSpec as specSchema,
} from './v1.schema.js'

/** Annotation of the former field templateGeneration; clients can set it on create only. */
const templateGenerationKey = 'deprecated.daemonset.template.generation'

function templateGenerationOf({ metadata }: DaemonSet): number {
  const count = Number(metadata?.annotations?.[templateGenerationKey] ?? 0)
  return Number.isSafeInteger(count) ? count : 0
}

/** The annotation must be an int64, like the former field. */
const unreadable = ({ metadata }: DaemonSet): string | undefined => int64AnnotationProblem(metadata?.annotations, templateGenerationKey)

const withTemplateGeneration = (set: DaemonSet, count: number): DaemonSet =>
  withMetadata(set, { annotations: { ...set.metadata?.annotations, [templateGenerationKey]: `${count}` } })

function withStrategyDefaults(strategy: DaemonSetUpdateStrategy | undefined): DaemonSetUpdateStrategy {
  const withType = withMissing<DaemonSetUpdateStrategy>(strategy ?? {}, { type: 'RollingUpdate' })
  if (withType.type !== 'RollingUpdate') return withType
  const rollingUpdate = withMissing<RollingUpdateDaemonSet>(withType.rollingUpdate ?? {}, { maxUnavailable: 1, maxSurge: 0 })
  return rollingUpdate === withType.rollingUpdate ? withType : { ...withType, rollingUpdate }
}

function defaults(set: DaemonSet, { identity }: RuleContext): DaemonSet {
  const spec = withMissing(set.spec ?? {}, { revisionHistoryLimit: 10 })
  const updateStrategy = withStrategyDefaults(spec.updateStrategy)
  const template = withTemplateDefaults(spec.template, identity)
  const isComplete = spec === set.spec && updateStrategy === spec.updateStrategy && template === spec.template
  const filled = isComplete ? set : { ...set, spec: { ...spec, updateStrategy, template } }
  const hasTemplateGeneration = set.metadata?.annotations?.[templateGenerationKey] === `${templateGenerationOf(set)}`
  return hasTemplateGeneration ? filled : withTemplateGeneration(filled, templateGenerationOf(set))
}

const prepareCreate = (set: DaemonSet, context: RuleContext): DaemonSet =>
  withTemplateGeneration(withFirstGeneration(withoutGatedTemplate(set, undefined, context)), Math.max(templateGenerationOf(set), 1))

function prepareUpdate(next: DaemonSet, old: DaemonSet, context: RuleContext): DaemonSet {
  const prepared = withKeptStatus(withoutGatedTemplate(next, old, context), old, specSchema)
  const isSame = sameBySchema(podTemplateSpec, prepared.spec?.template ?? {}, old.spec?.template ?? {})
  return withTemplateGeneration(prepared, templateGenerationOf(old) + (isSame ? 0 : 1))
}

function validate({ spec = {} }: DaemonSet, context: RuleContext): readonly FieldError[] {
  const { selector, template = {}, updateStrategy = {} } = spec
  return joined(
    validateLabelSelector(selector, 'spec.selector'),
    isUsableSelector(selector) ? checkSelectorMatches(selector, template, 'spec.template') : noErrors,
    selector !== undefined && isEmptySelector(selector)
      ? [invalid('spec.selector', selector, 'empty selector is invalid for daemonset')]
      : noErrors,
    validateTemplate(template, 'spec.template', context),
    checkSharedDisks(template.spec?.volumes, 'spec.template.spec.volumes'),
    checkRestartAlways(template, 'spec.template', 'DaemonSet'),
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    validateStrategy(updateStrategy, 'spec.updateStrategy'),
    checkNotNegative(spec.revisionHistoryLimit ?? 0, 'spec.revisionHistoryLimit'),
  )
}

function validateStrategy(strategy: DaemonSetUpdateStrategy, field: string): readonly FieldError[] {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return noErrors
  if (type !== 'RollingUpdate') return [notSupported(field, strategy, ['RollingUpdate', 'OnDelete'])]
  return rollingUpdate === undefined ? [required(`${field}.rollingUpdate`)] : validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`)
}

/** Exactly one of both must be nonzero. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, field: string): readonly FieldError[] {
  const [hasUnavailable, hasSurge] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0]
  return joined(
    checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    checkIntOrPercent(maxSurge, `${field}.maxSurge`),
    checkAtMost100Percent(maxUnavailable, `${field}.maxUnavailable`),
    checkAtMost100Percent(maxSurge, `${field}.maxSurge`),
    hasUnavailable && hasSurge ? [invalid(`${field}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')] : noErrors,
    !hasUnavailable && !hasSurge ? [required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')] : noErrors,
  )
}

const validateStatus = ({ status = {} }: DaemonSet, old: DaemonSet): readonly FieldError[] =>
  joined(
    checkCounts(status, [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]),
    checkCollisions(status, old.status ?? {}),
  )

export const daemonSet = defineResource<DaemonSet>({
  group: 'apps',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  unreadable,
  fieldAnnotations: () => [templateGenerationKey],
  defaults,
  prepareCreate,
  prepareUpdate,
  validate,
  validateUpdate: checkSameSelector,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validate', 'validateUpdate'] },
  // An equal template generation means an unchanged template.
  warnings: (next, old, context) =>
    old !== undefined && templateGenerationOf(next) === templateGenerationOf(old) ? [] : specTemplateWarnings(next, old, context),
  resetFields: ['status'],
  subresources: [
    statusSubresource<DaemonSet>({
      // Keeps the template generation annotation, which belongs to the spec.
      prepareUpdate: (next, old) => withTemplateGeneration(withKeptSpec(next, old), templateGenerationOf(old)),
      validateUpdate: validateStatus,
    }),
  ],
  table: tableOf<DaemonSet>(
    nameColumn,
    countColumn('Desired', 'Number of nodes that should run the pod.', ({ status }) => status?.desiredNumberScheduled ?? 0),
    countColumn('Current', 'Number of nodes with a pod.', ({ status }) => status?.currentNumberScheduled ?? 0),
    countColumn('Ready', 'Number of nodes with a ready pod.', ({ status }) => status?.numberReady ?? 0),
    countColumn('Up-to-date', 'Number of nodes with a pod of the current template.', ({ status }) => status?.updatedNumberScheduled ?? 0),
    countColumn('Available', 'Number of nodes with an available pod.', ({ status }) => status?.numberAvailable ?? 0),
    textColumn('Node Selector', 'Labels of the nodes that run the pod.', ({ spec }) => describeLabels(spec?.template?.spec?.nodeSelector)),
    ageColumn,
    ...workloadColumns<DaemonSet>(
      ({ spec }) => spec?.template,
      ({ spec }) => describeSelector(spec?.selector),
    ),
  ),
})
