// Daemon sets: one pod of a template on every node that fits.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { amountOf, checkAtMostAll, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { isEmptySelector, validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { describeLabels, describeSelector } from '../core/label-text.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/warnings.js'
import { checkRunsForGood, checkSelectorMatches, checkSharedDisks, validateTemplate } from '../core/pod-template-rules.js'
import { checkCollisions, checkCounts } from '../core/replica-counts.js'
import { podTemplateSpec } from '../core/v1.schema.js'
import { containerCells, containerColumns, countColumn, selectorColumn } from '../core/workload-columns.js'
import { notInt64 } from './number-annotation.js'
import {
  type DaemonSet,
  type DaemonSetUpdateStrategy,
  type RollingUpdateDaemonSet,
  daemonSet as schema,
  daemonSetSpec as specSchema,
} from './v1.schema.js'
import { isUsableSelector } from './workload-selector.js'

/** Where the count of templates is kept since it is no field any more. Only the server counts. */
const templateGenerationKey = 'deprecated.daemonset.template.generation'

function templateGenerationOf({ metadata }: DaemonSet): number {
  const count = Number(metadata?.annotations?.[templateGenerationKey] ?? 0)
  return Number.isSafeInteger(count) ? count : 0
}

/** What was a number when it was a field must be one still. */
const unreadable = ({ metadata }: DaemonSet): string | undefined => notInt64(metadata?.annotations, templateGenerationKey)

const withTemplateGeneration = (set: DaemonSet, count: number): DaemonSet =>
  withMetadata(set, { annotations: { ...set.metadata?.annotations, [templateGenerationKey]: `${count}` } })

function withStrategyDefaults(strategy: DaemonSetUpdateStrategy | undefined): DaemonSetUpdateStrategy {
  const typed = withMissing<DaemonSetUpdateStrategy>(strategy ?? {}, { type: 'RollingUpdate' })
  if (typed.type !== 'RollingUpdate') return typed
  const rollingUpdate = withMissing<RollingUpdateDaemonSet>(typed.rollingUpdate ?? {}, { maxUnavailable: 1, maxSurge: 0 })
  return rollingUpdate === typed.rollingUpdate ? typed : { ...typed, rollingUpdate }
}

function defaults(set: DaemonSet, { identity }: RuleContext): DaemonSet {
  const spec = withMissing(set.spec ?? {}, { revisionHistoryLimit: 10 })
  const updateStrategy = withStrategyDefaults(spec.updateStrategy)
  const template = withTemplateDefaults(spec.template, identity)
  const isComplete = spec === set.spec && updateStrategy === spec.updateStrategy && template === spec.template
  const filled = isComplete ? set : { ...set, spec: { ...spec, updateStrategy, template } }
  const isCounted = set.metadata?.annotations?.[templateGenerationKey] === `${templateGenerationOf(set)}`
  return isCounted ? filled : withTemplateGeneration(filled, templateGenerationOf(set))
}

const withoutGated = (set: DaemonSet, old: DaemonSet | undefined, { gates }: RuleContext): DaemonSet => ({
  ...set,
  spec: { ...set.spec, template: templateWithoutGatedFields(set.spec?.template ?? {}, old?.spec?.template, gates) },
})

const prepareCreate = (set: DaemonSet, context: RuleContext): DaemonSet =>
  withTemplateGeneration(withFirstGeneration(withoutGated(set, undefined, context)), Math.max(templateGenerationOf(set), 1))

function prepareUpdate(next: DaemonSet, old: DaemonSet, context: RuleContext): DaemonSet {
  const kept = withKeptStatus(withoutGated(next, old, context), old, specSchema)
  const isSame = sameBySchema(podTemplateSpec, kept.spec?.template ?? {}, old.spec?.template ?? {})
  return withTemplateGeneration(kept, templateGenerationOf(old) + (isSame ? 0 : 1))
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
    checkRunsForGood(template, 'spec.template', 'DaemonSet'),
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

/** Either the old pod goes first or the new one comes first, not both and not neither. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, field: string): readonly FieldError[] {
  const [removes, adds] = [amountOf(maxUnavailable) !== 0, amountOf(maxSurge) !== 0]
  return joined(
    checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    checkIntOrPercent(maxSurge, `${field}.maxSurge`),
    checkAtMostAll(maxUnavailable, `${field}.maxUnavailable`),
    checkAtMostAll(maxSurge, `${field}.maxSurge`),
    removes && adds ? [invalid(`${field}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')] : noErrors,
    !removes && !adds ? [required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')] : noErrors,
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
  validateUpdate: (next, old) => checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector'),
  checks: { update: ['metadata', 'own', 'metadataChange', 'own', 'ownChange'] },
  // The count of templates tells that there is a new one; other changes of the set say nothing about the template.
  warnings: (next, old, { identity }) =>
    old !== undefined && templateGenerationOf(next) === templateGenerationOf(old)
      ? []
      : templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity }),
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      // The count belongs to the spec, wherever it is written down.
      prepareUpdate: (next, old) => withTemplateGeneration(withKeptSpec(next, old), templateGenerationOf(old)),
      validateUpdate: validateStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      countColumn('Desired', 'How many nodes shall run the pod.'),
      countColumn('Current', 'How many nodes run at least one.'),
      countColumn('Ready', 'How many of those pods are ready.'),
      countColumn('Up-to-date', 'How many nodes run the pod of the latest template.'),
      countColumn('Available', 'How many nodes run a pod that has been ready long enough.'),
      textColumn('Node Selector', 'Which nodes shall run the pod, by their labels.'),
      ageColumn,
      ...containerColumns,
      selectorColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      describeLabels(spec?.template?.spec?.nodeSelector),
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template),
      describeSelector(spec?.selector),
    ],
  },
})
