// ReplicaSet: defaults, validation, scale, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import type { FieldError } from '../../api/field-error.js'
import { fromSelectorObject } from '../../api/selectors/label-selector.js'
import { checkNotNegative, dnsSubdomainProblems, joined } from '../../api/validation/checks.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { withMissing } from '../core/pod-spec/visit-containers.js'
import {
  checkSameSelector,
  describeSelector,
  replicaColumns,
  specTemplateWarnings,
  validateReplicaStatus,
  validateReplicated,
  withoutGatedTemplate,
  workloadColumns,
} from '../core/workload/workload.js'
import { ageColumn, nameColumn, tableOf } from '../printer-columns.js'
import { statusSubresource, withFirstGeneration, withKeptStatus } from '../status-subresource.js'
import { type ReplicaSet, replicaSet as schema, replicaSetSpec as specSchema } from './v1.schema.js'

function defaults(set: ReplicaSet, { identity }: RuleContext): ReplicaSet {
  const spec = withMissing(set.spec ?? {}, { replicas: 1 })
  const template = withTemplateDefaults(spec.template, identity)
  return spec === set.spec && template === spec.template ? set : { ...set, spec: { ...spec, template } }
}

const prepareUpdate = (next: ReplicaSet, old: ReplicaSet, context: RuleContext): ReplicaSet =>
  withKeptStatus(withoutGatedTemplate(next, old, context), old, specSchema)

const validate = ({ spec = {} }: ReplicaSet, context: RuleContext): readonly FieldError[] =>
  joined(
    checkNotNegative(spec.replicas ?? 0, 'spec.replicas'),
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    validateReplicated(spec, 'spec', context),
  )

export const replicaSet = defineResource<ReplicaSet>({
  group: 'apps',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withFirstGeneration(withoutGatedTemplate(object, undefined, context)),
  prepareUpdate,
  validate,
  validateUpdate: checkSameSelector,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validate', 'validateUpdate'] },
  warnings: specTemplateWarnings,
  resetFields: ['status'],
  subresources: [
    scaleSubresource<ReplicaSet>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validate(next, context), checkSameSelector(next, old)),
    }),
    statusSubresource<ReplicaSet>({ validateUpdate: ({ status = {} }) => validateReplicaStatus(status) }),
  ],
  table: tableOf<ReplicaSet>(
    nameColumn,
    ...replicaColumns,
    ageColumn,
    ...workloadColumns<ReplicaSet>(
      ({ spec }) => spec?.template,
      (set) => describeSelector(set.spec?.selector),
    ),
  ),
})
