// ReplicationController: defaults from its template, validation, scale, printer columns.

import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, required } from '../../../api/field-error.js'
import { withMetadata } from '../../../api/object.js'
import { checkNotNegative, dnsSubdomainProblems, joined, noErrors } from '../../../api/validation/checks.js'
import { scaleSubresource } from '../../autoscaling/scale.js'
import { ageColumn, nameColumn, tableOf } from '../../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../../status-subresource.js'
import { templateWithoutGatedFields } from '../pod-spec/feature-gated-fields.js'
import { withTemplateDefaults } from '../pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../pod-spec/pod-warnings.js'
import { withChanged, withMissing } from '../pod-spec/visit-containers.js'
import {
  type ReplicationController,
  type ReplicationControllerSpec,
  replicationController as schema,
  replicationControllerSpec as specSchema,
} from '../v1.schema.js'
import {
  checkRestartAlways,
  checkSelectorMatches,
  checkSharedDisks,
  describeLabels,
  replicaColumns,
  validateReplicaStatus,
  validateTemplate,
  workloadColumns,
} from './workload.js'

/** Labels and selector default to the template's labels. */
function defaults(controller: ReplicationController, { identity }: RuleContext): ReplicationController {
  const labels = controller.spec?.template?.metadata?.labels
  const withReplicas = withMissing<ReplicationControllerSpec>(controller.spec ?? {}, { replicas: 1 })
  const withSelector = labels === undefined ? withReplicas : withMissing(withReplicas, { selector: labels })
  const spec = withChanged(withSelector, 'template', (template) => withTemplateDefaults(template, identity))
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
    validateControllerTemplate(spec, 'spec.template', context),
  )
}

function validateControllerTemplate(spec: ReplicationControllerSpec, field: string, context: RuleContext): readonly FieldError[] {
  const { template, selector, replicas = 0 } = spec
  if (template === undefined) return [required(field)]
  return joined(
    selector === undefined ? noErrors : checkSelectorMatches({ matchLabels: selector }, template, field),
    validateTemplate(template, field, context),
    replicas > 1 ? checkSharedDisks(template.spec?.volumes, `${field}.spec.volumes`) : noErrors,
    checkRestartAlways(template, field, 'ReplicationController'),
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
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validate'] },
  // On update kube-apiserver warns about the old template.
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
    statusSubresource<ReplicationController>({ validateUpdate: ({ status = {} }) => validateReplicaStatus(status) }),
  ],
  table: tableOf<ReplicationController>(
    nameColumn,
    ...replicaColumns,
    ageColumn,
    ...workloadColumns<ReplicationController>(
      ({ spec }) => spec?.template,
      (controller) => describeLabels(controller.spec?.selector),
    ),
  ),
})
