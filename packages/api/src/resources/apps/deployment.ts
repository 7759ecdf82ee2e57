// Deployment: defaults, rollout strategy, rollback annotation, scale, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { withMetadata } from '../../api/object.js'
import { fromSelectorObject } from '../../api/selectors/label-selector.js'
import { checkNotNegative, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { amountOf, checkAtMost100Percent, checkIntOrPercent } from '../../api/validation/int-or-percent.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { sameValue } from '../../api/validation/same-value.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import {
  checkCollisions,
  checkCounts,
  checkReplicaCounts,
  checkSameSelector,
  int64AnnotationProblem,
  specTemplateWarnings,
  validateReplicated,
  withoutGatedTemplate,
  workloadColumns,
} from '../core/workload/workload.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptSpec, withNextGeneration } from '../status-subresource.js'
import {
  type Deployment,
  type DeploymentSpec,
  type DeploymentStrategy,
  type RollingUpdateDeployment,
  deployment as schema,
  deploymentSpec as specSchema,
} from './v1.schema.js'

const specDefaults = { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }
const rollingDefaults = { maxUnavailable: '25%', maxSurge: '25%' }

/** Annotation of the former field rollbackTo. */
const rollbackKey = 'deprecated.deployment.rollback.to'

const withRollback = (deployment: Deployment, revision: string | undefined): Deployment => {
  if (deployment.metadata?.annotations?.[rollbackKey] === revision) return deployment
  const { [rollbackKey]: _, ...others } = deployment.metadata?.annotations ?? {}
  const annotations = revision === undefined ? others : { ...others, [rollbackKey]: revision }
  return withMetadata(deployment, { annotations: Object.keys(annotations).length === 0 ? undefined : annotations })
}

/** Writes the rollback annotation as a canonical number; removes an empty one. */
function withCanonicalRollback(deployment: Deployment): Deployment {
  const text = deployment.metadata?.annotations?.[rollbackKey]
  if (text === undefined) return deployment
  if (text === '') return withRollback(deployment, undefined)
  const isNumber = int64AnnotationProblem({ [rollbackKey]: text }, rollbackKey) === undefined
  return isNumber ? withRollback(deployment, `${BigInt(text.replace('+', ''))}`) : deployment
}

function validateRollback({ metadata }: Deployment): readonly FieldError[] {
  const revision = Number(metadata?.annotations?.[rollbackKey] ?? 0)
  return checkNotNegative(revision, 'spec.rollback.version')
}

function withStrategyDefaults(strategy: DeploymentStrategy | undefined): DeploymentStrategy {
  const withType = withMissing<DeploymentStrategy>(strategy ?? {}, { type: 'RollingUpdate' })
  if (withType.type !== 'RollingUpdate') return withType
  const rollingUpdate = withMissing<RollingUpdateDeployment>(withType.rollingUpdate ?? {}, rollingDefaults)
  return rollingUpdate === withType.rollingUpdate ? withType : { ...withType, rollingUpdate }
}

function defaults(deployment: Deployment, { identity }: RuleContext): Deployment {
  const spec = withMissing<DeploymentSpec>(deployment.spec ?? {}, specDefaults)
  const strategy = withStrategyDefaults(spec.strategy)
  const template = withTemplateDefaults(spec.template, identity)
  const isComplete = spec === deployment.spec && strategy === spec.strategy && template === spec.template
  return withCanonicalRollback(isComplete ? deployment : { ...deployment, spec: { ...spec, strategy, template } })
}

/** Changed annotations increase the generation, because revisions depend on them. */
function prepareUpdate(next: Deployment, old: Deployment, context: RuleContext): Deployment {
  const prepared = { ...withoutGatedTemplate(next, old, context), status: old.status ?? {} }
  const isChanged =
    !sameBySchema(specSchema, prepared.spec ?? {}, old.spec ?? {}) || !sameValue(next.metadata?.annotations, old.metadata?.annotations)
  return withNextGeneration(prepared, old, isChanged)
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

/** Rejects zero for both, which would block the rollout. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, field: string): readonly FieldError[] {
  return joined(
    checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    checkIntOrPercent(maxSurge, `${field}.maxSurge`),
    amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : noErrors,
    checkAtMost100Percent(maxUnavailable, `${field}.maxUnavailable`),
  )
}

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
    checkReplicaCounts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
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
  unreadable: ({ metadata }) =>
    metadata?.annotations?.[rollbackKey] ? int64AnnotationProblem(metadata.annotations, rollbackKey) : undefined,
  fieldAnnotations: () => [rollbackKey],
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGatedTemplate(object, undefined, context)),
  prepareUpdate,
  validate,
  validateUpdate: checkSameSelector,
  checks: { update: ['metadataChange', 'validate', 'validateUpdate'] },
  warnings: specTemplateWarnings,
  resetFields: ['status'],
  subresources: [
    scaleSubresource<Deployment>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validate(next, context), checkSameSelector(next, old)),
    }),
    statusSubresource<Deployment>({
      // Keeps the rollback annotation, which belongs to the spec, and the labels.
      prepareUpdate: (next, old) =>
        withMetadata(withRollback(withKeptSpec(next, old), old.metadata?.annotations?.[rollbackKey]), { labels: old.metadata?.labels }),
      validateUpdate: validateStatus,
      resetFields: ['spec', 'metadata.labels'],
    }),
  ],
  table: tableOf<Deployment>(
    nameColumn,
    textColumn(
      'Ready',
      'Ready pods out of the desired number.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    textColumn('Up-to-date', 'Number of pods of the current template.', ({ status }) => status?.updatedReplicas ?? 0),
    textColumn('Available', 'Number of available pods.', ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...workloadColumns<Deployment>(
      ({ spec }) => spec?.template,
      ({ spec }) => fromSelectorObject(spec?.selector).text,
    ),
  ),
})
