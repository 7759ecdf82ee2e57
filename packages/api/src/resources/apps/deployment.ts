// Deployments: how many pods of a template there shall be, and how one template is replaced by the next.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { fromSelectorObject } from '../../api/label-selector.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { amountOf, checkAtMostAll, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { sameValue } from '../../api/validation/same-value.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withFirstGeneration, withKeptSpec, withNextGeneration } from '../core/generation.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/warnings.js'
import { checkCollisions, checkCounts, checkParts } from '../core/replica-counts.js'
import { containerCells, containerColumns, selectorColumn } from '../core/workload-columns.js'
import { notInt64 } from './number-annotation.js'
import {
  type Deployment,
  type DeploymentSpec,
  type DeploymentStrategy,
  type RollingUpdateDeployment,
  deployment as schema,
  deploymentSpec as specSchema,
} from './v1.schema.js'
import { validateReplicated } from './workload-selector.js'

const specDefaults = { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }
const rollingDefaults = { maxUnavailable: '25%', maxSurge: '25%' }

/** Where the revision to go back to is kept since it is no field any more. */
const rollbackKey = 'deprecated.deployment.rollback.to'

const withRollback = (deployment: Deployment, revision: string | undefined): Deployment => {
  if (deployment.metadata?.annotations?.[rollbackKey] === revision) return deployment
  const { [rollbackKey]: _, ...others } = deployment.metadata?.annotations ?? {}
  const annotations = revision === undefined ? others : { ...others, [rollbackKey]: revision }
  return withMetadata(deployment, { annotations: Object.keys(annotations).length === 0 ? undefined : annotations })
}

/** The revision is written as the number that it is; an empty text stands for none. */
function withPlainRollback(deployment: Deployment): Deployment {
  const text = deployment.metadata?.annotations?.[rollbackKey]
  if (text === undefined) return deployment
  if (text === '') return withRollback(deployment, undefined)
  const isNumber = notInt64({ [rollbackKey]: text }, rollbackKey) === undefined
  return isNumber ? withRollback(deployment, `${BigInt(text.replace('+', ''))}`) : deployment
}

/** Found under the name that the field had. */
function validateRollback({ metadata }: Deployment): readonly FieldError[] {
  const revision = Number(metadata?.annotations?.[rollbackKey] ?? 0)
  return checkNotNegative(revision, 'spec.rollback.version')
}

function withStrategyDefaults(strategy: DeploymentStrategy | undefined): DeploymentStrategy {
  const typed = withMissing<DeploymentStrategy>(strategy ?? {}, { type: 'RollingUpdate' })
  if (typed.type !== 'RollingUpdate') return typed
  const rollingUpdate = withMissing<RollingUpdateDeployment>(typed.rollingUpdate ?? {}, rollingDefaults)
  return rollingUpdate === typed.rollingUpdate ? typed : { ...typed, rollingUpdate }
}

function defaults(deployment: Deployment, { identity }: RuleContext): Deployment {
  const spec = withMissing<DeploymentSpec>(deployment.spec ?? {}, specDefaults)
  const strategy = withStrategyDefaults(spec.strategy)
  const template = withTemplateDefaults(spec.template, identity)
  const isComplete = spec === deployment.spec && strategy === spec.strategy && template === spec.template
  return withPlainRollback(isComplete ? deployment : { ...deployment, spec: { ...spec, strategy, template } })
}

const withoutGated = (deployment: Deployment, old: Deployment | undefined, { gates }: RuleContext): Deployment => ({
  ...deployment,
  spec: { ...deployment.spec, template: templateWithoutGatedFields(deployment.spec?.template ?? {}, old?.spec?.template, gates) },
})

/** Annotations are part of what is wanted here: revisions are told by them. */
function prepareUpdate(next: Deployment, old: Deployment, context: RuleContext): Deployment {
  const kept = { ...withoutGated(next, old, context), status: old.status ?? {} }
  const isChanged =
    !sameBySchema(specSchema, kept.spec ?? {}, old.spec ?? {}) || !sameValue(next.metadata?.annotations, old.metadata?.annotations)
  return withNextGeneration(kept, old, isChanged)
}

function validate(deployment: Deployment, context: RuleContext): readonly FieldError[] {
  const { spec = {} } = deployment
  const { replicas = 0, minReadySeconds = 0, revisionHistoryLimit = 0, progressDeadlineSeconds, strategy = {} } = spec
  return joined(
    checkNotNegative(replicas, 'spec.replicas'),
    validateReplicated(spec, 'spec', context),
    validateStrategy(strategy, 'spec.strategy'),
    checkNotNegative(minReadySeconds, 'spec.minReadySeconds'),
    checkNotNegative(revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    validateRollback(deployment),
    progressDeadlineSeconds === undefined ? noErrors : checkNotNegative(progressDeadlineSeconds, 'spec.progressDeadlineSeconds'),
    progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds
      ? [invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds')]
      : noErrors,
  )
}

function validateStrategy(strategy: DeploymentStrategy, field: string): readonly FieldError[] {
  const { type, rollingUpdate } = strategy
  switch (type) {
    case 'Recreate':
      return rollingUpdate === undefined
        ? noErrors
        : [forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
    case 'RollingUpdate':
      return rollingUpdate === undefined
        ? [required(`${field}.rollingUpdate`, 'this should be defaulted and never be nil')]
        : validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`)
    default:
      return [notSupported(field, strategy, ['Recreate', 'RollingUpdate'])]
  }
}

/** Without a pod more or less there is no way on. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, field: string): readonly FieldError[] {
  return joined(
    checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    checkIntOrPercent(maxSurge, `${field}.maxSurge`),
    amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : noErrors,
    checkAtMostAll(maxUnavailable, `${field}.maxUnavailable`),
  )
}

const validateUpdate = (next: Deployment, old: Deployment): readonly FieldError[] =>
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector')

const validateStatus = ({ status = {} }: Deployment, old: Deployment): readonly FieldError[] =>
  joined(
    checkCounts(status, [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'collisionCount',
    ]),
    checkParts(status, [
      { name: 'updatedReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'readyReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'replicas', shown: 'status.replicas' },
      { name: 'availableReplicas', of: 'readyReplicas', shown: 'readyReplicas' },
    ]),
    checkCollisions(status, old.status ?? {}),
  )

export const deployment = defineResource<Deployment>({
  group: 'apps',
  kind: 'Deployment',
  resource: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  unreadable: ({ metadata }) => (metadata?.annotations?.[rollbackKey] ? notInt64(metadata.annotations, rollbackKey) : undefined),
  fieldAnnotations: () => [rollbackKey],
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'own', 'ownChange'] },
  warnings: (next, old, { identity }) => templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity }),
  resetFields: ['status'],
  subresources: [
    scaleSubresource<Deployment>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validate(next, context), validateUpdate(next, old)),
    }),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      // The revision to go back to belongs to the spec, wherever it is written down.
      prepareUpdate: (next, old) =>
        withMetadata(withRollback(withKeptSpec(next, old), old.metadata?.annotations?.[rollbackKey]), { labels: old.metadata?.labels }),
      validateUpdate: validateStatus,
      resetFields: ['spec', 'metadata.labels'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Ready', 'How many pods are ready, of how many.'),
      textColumn('Up-to-date', 'How many pods are of the latest template.'),
      textColumn('Available', 'How many pods have been ready long enough.'),
      ageColumn,
      ...containerColumns,
      selectorColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.template),
      fromSelectorObject(spec?.selector).text,
    ],
  },
})
