// Replica sets: a number of pods of one template, kept at that number.

import { defineResource, type RuleContext } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { fromSelectorObject } from '../../api/label-selector.js'
import { ageColumn, nameColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, checkUnchanged } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { scaleSubresource } from '../autoscaling/scale.js'
import { withFirstGeneration, withKeptSpec, withKeptStatus } from '../core/generation.js'
import { describeSelector } from '../core/label-text.js'
import { templateWithoutGatedFields } from '../core/pod-spec/gated-fields.js'
import { withMissing } from '../core/pod-spec/missing-members.js'
import { withTemplateDefaults } from '../core/pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../core/pod-spec/warnings.js'
import { replicaColumns, replicaCounts, validateReplicaStatus } from '../core/replica-status.js'
import { containerCells, containerColumns, selectorColumn } from '../core/workload-columns.js'
import { type ReplicaSet, replicaSet as schema, replicaSetSpec as specSchema } from './v1.schema.js'
import { validateReplicated } from './workload-selector.js'

function defaults(set: ReplicaSet, { identity }: RuleContext): ReplicaSet {
  const spec = withMissing(set.spec ?? {}, { replicas: 1 })
  const template = withTemplateDefaults(spec.template, identity)
  return spec === set.spec && template === spec.template ? set : { ...set, spec: { ...spec, template } }
}

const withoutGated = (set: ReplicaSet, old: ReplicaSet | undefined, { gates }: RuleContext): ReplicaSet => ({
  ...set,
  spec: { ...set.spec, template: templateWithoutGatedFields(set.spec?.template ?? {}, old?.spec?.template, gates) },
})

const prepareUpdate = (next: ReplicaSet, old: ReplicaSet, context: RuleContext): ReplicaSet =>
  withKeptStatus(withoutGated(next, old, context), old, specSchema)

const validate = ({ spec = {} }: ReplicaSet, context: RuleContext): readonly FieldError[] =>
  joined(
    checkNotNegative(spec.replicas ?? 0, 'spec.replicas'),
    checkNotNegative(spec.minReadySeconds ?? 0, 'spec.minReadySeconds'),
    validateReplicated(spec, 'spec', context),
  )

const validateUpdate = (next: ReplicaSet, old: ReplicaSet): readonly FieldError[] =>
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector')

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
  prepareCreate: (object, context) => withFirstGeneration(withoutGated(object, undefined, context)),
  prepareUpdate,
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'own', 'metadataChange', 'own', 'ownChange'] },
  warnings: (next, old, { identity }) => templateWarnings({ next, old, template: next.spec?.template, path: 'spec.template', identity }),
  resetFields: ['status'],
  subresources: [
    scaleSubresource<ReplicaSet>({
      selectorOf: ({ spec }) => fromSelectorObject(spec?.selector).text,
      prepareUpdate,
      validateUpdate: (next, old, context) => joined(validate(next, context), validateUpdate(next, old)),
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
    cells: (set, { now }) => [
      set.metadata?.name ?? '',
      ...replicaCounts(set),
      ageOf(set.metadata?.creationTimestamp, now),
      ...containerCells(set.spec?.template),
      describeSelector(set.spec?.selector),
    ],
  },
})
