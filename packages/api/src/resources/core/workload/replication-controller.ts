// Replication controllers: a number of pods of one template, as it was done before replica sets.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from './generation.js'
import { describeLabels } from './label-text.js'
import { templateWithoutGatedFields } from './pod-spec/gated-fields.js'
import { withChanged, withMissing } from './pod-spec/missing-members.js'
import { withTemplateDefaults } from './pod-spec/pod-spec-defaults.js'
import { templateWarnings } from './pod-spec/warnings.js'
import { checkRunsForGood, checkSelectorMatches, checkSharedDisks, validateTemplate } from './pod-template-rules.js'
import { replicaColumns, replicaCounts, validateReplicaStatus } from './replica-status.js'
import {
  type ReplicationController,
  type ReplicationControllerSpec,
  replicationController as schema,
  replicationControllerSpec as specSchema,
} from './v1.schema.js'
import { containerCells, containerColumns, selectorColumn } from './workload-columns.js'

/** What a controller does not say of itself, it takes from the labels of its template. */
function defaults(controller: ReplicationController, { identity }: RuleContext): ReplicationController {
  const labels = controller.spec?.template?.metadata?.labels
  const bare = withMissing<ReplicationControllerSpec>(controller.spec ?? {}, { replicas: 1 })
  const selecting = labels === undefined ? bare : withMissing(bare, { selector: labels })
  const spec = withChanged(selecting, 'template', (template) => withTemplateDefaults(template, identity))
  const filled = spec === controller.spec ? controller : { ...controller, spec }
  return labels === undefined || filled.metadata?.labels !== undefined ? filled : withMetadata(filled, { labels })
}

const withoutGated = (
  controller: ReplicationController,
  old: ReplicationController | undefined,
  { gates }: RuleContext,
): ReplicationController => ({
  ...controller,
  spec: withChanged(controller.spec ?? {}, 'template', (template) => templateWithoutGatedFields(template, old?.spec?.template, gates)),
})

const prepareUpdate = (next: ReplicationController, old: ReplicationController, context: RuleContext): ReplicationController =>
  withKeptStatus(withoutGated(next, old, context), old, specSchema)

function validate({ spec = {} }: ReplicationController, context: RuleContext): readonly FieldError[] {
  return joined(
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    spec.selector === undefined ? [required('spec.selector')] : noErrors,
    checkNotNegative(spec.replicas ?? 0, 'spec.replicas'),
    validateOwnTemplate(spec, 'spec.template', context),
  )
}

function validateOwnTemplate(spec: ReplicationControllerSpec, field: string, context: RuleContext): readonly FieldError[] {
  const { template, selector, replicas = 0 } = spec
  if (template === undefined) return [required(field)]
  return joined(
    selector === undefined ? noErrors : checkSelectorMatches({ matchLabels: selector }, template, field),
    validateTemplate(template, field, context),
    replicas > 1 ? checkSharedDisks(template.spec?.volumes, `${field}.spec.volumes`) : noErrors,
    checkRunsForGood(template, field, 'ReplicationController'),
  )
}

const selectorText = ({ spec }: ReplicationController): string => (spec?.selector === undefined ? '' : describeLabels(spec.selector))

export const replicationController = defineResource<ReplicationController>({
  group: '',
  kind: 'ReplicationController',
  resource: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate,
  validate,
  checks: { update: ['metadata', 'own', 'metadataChange', 'own'] },
  // With a change the template is looked at that was there, not the one that comes: so clients know it.
  warnings: (next, old, { identity }) =>
    templateWarnings({ next, old, template: (old ?? next).spec?.template, path: 'spec.template', identity }),
  orphansByDefault: {},
  resetFields: ['status'],
  selectableFields: { 'status.replicas': ({ status }) => `${status?.replicas ?? 0}` },
  subresources: [
    scaleSubresource<ReplicationController>({
      selectorOf: selectorText,
      prepareUpdate,
      validateUpdate: (next, _, context) => validate(next, context),
    }),
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: withKeptSpec,
      validateUpdate: ({ status = {} }) => validateReplicaStatus(status),
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [nameColumn, ...replicaColumns, ageColumn, ...containerColumns, selectorColumn],
    cells: (controller, { now }) => [
      controller.metadata?.name ?? '',
      ...replicaCounts(controller),
      ageOf(controller.metadata?.creationTimestamp, now),
      ...containerCells(controller.spec?.template),
      describeLabels(controller.spec?.selector),
    ],
  },
})
