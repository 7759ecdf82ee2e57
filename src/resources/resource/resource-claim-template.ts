// Templates from which claims are made for pods. A template does not change; a new one is made instead.

import { defineResource } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkUnchanged } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateTemplateMeta } from '../../api/validation/template-meta.js'
import { validateClaimSpec, withAllocationMode } from './claim-spec.js'
import { type ResourceClaimTemplate, type ResourceClaimTemplateSpec, resourceClaimTemplate as schema } from './v1alpha1.schema.js'

function defaults(template: ResourceClaimTemplate): ResourceClaimTemplate {
  const spec = withAllocationMode(template.spec?.spec ?? {})
  return spec === template.spec?.spec ? template : { ...template, spec: { ...template.spec, spec } }
}

/** The spec with nothing left out, so that what is absent and what is empty compare as the same. */
const completeSpec = ({ spec = {} }: ResourceClaimTemplate): ResourceClaimTemplateSpec => ({
  metadata: spec.metadata ?? {},
  spec: spec.spec ?? {},
})

const validate = ({ spec = {} }: ResourceClaimTemplate): readonly FieldError[] => [
  ...validateTemplateMeta(spec.metadata ?? {}, 'spec.metadata'),
  ...validateClaimSpec(spec.spec ?? {}, 'spec.spec'),
]

export const resourceClaimTemplate = defineResource<ResourceClaimTemplate>({
  group: { stem: 'resource' },
  kind: 'ResourceClaimTemplate',
  resource: 'resourceclaimtemplates',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  validate,
  validateUpdate: (next, old) => checkUnchanged(completeSpec(next), completeSpec(old), 'spec'),
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange', 'metadata', 'own'] },
  deleteReturnsObject: true,
  table: {
    columns: [
      nameColumn,
      textColumn('ResourceClassName', 'The class that names the driver.'),
      textColumn('AllocationMode', 'When allocation starts.'),
      ageColumn,
    ],
    cells: ({ metadata, spec }, { now }) => [
      metadata?.name ?? '',
      spec?.spec?.resourceClassName ?? '',
      spec?.spec?.allocationMode ?? '',
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
