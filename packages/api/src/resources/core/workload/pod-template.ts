// PodTemplate: defaults, validation, printer columns.

import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import { withMetadata } from '../../../api/object.js'
import { dnsSubdomainProblems } from '../../../api/validation/checks.js'
import { sameBySchema } from '../../../api/validation/same-by-schema.js'
import { nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { withNextGeneration } from '../../status-subresource.js'
import { templateWithoutGatedFields } from '../pod-spec/feature-gated-fields.js'
import { withTemplateDefaults } from '../pod-spec/pod-spec-defaults.js'
import { templateWarnings } from '../pod-spec/pod-warnings.js'
import { type PodTemplate, podTemplateSpec, podTemplate as schema } from '../v1.schema.js'
import { describeLabels, validateTemplate, workloadColumns } from './workload.js'

function defaults(object: PodTemplate, { identity }: RuleContext): PodTemplate {
  const template = withTemplateDefaults(object.template, identity)
  return template === object.template ? object : { ...object, template }
}

const withoutGated = (object: PodTemplate, old: PodTemplate | undefined, { gates }: RuleContext): PodTemplate => ({
  ...object,
  template: templateWithoutGatedFields(object.template ?? {}, old?.template, gates),
})

function prepareUpdate(next: PodTemplate, old: PodTemplate, context: RuleContext): PodTemplate {
  const prepared = withoutGated(next, old, context)
  return withNextGeneration(prepared, old, !sameBySchema(podTemplateSpec, prepared.template ?? {}, old.template ?? {}))
}

export const podTemplate = defineResource<PodTemplate>({
  group: '',
  kind: 'PodTemplate',
  resource: 'podtemplates',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object, context) => withMetadata(withoutGated(object, undefined, context), { generation: 1 }),
  prepareUpdate,
  validate: ({ template }, context) => validateTemplate(template ?? {}, 'template', context),
  checks: { update: ['metadataChange', 'validate'] },
  warnings: (next, old, { identity }) => templateWarnings({ next, old, template: next.template, path: 'template', identity }),
  deleteReturnsObject: true,
  table: tableOf<PodTemplate>(
    nameColumn,
    // Without a priority, the columns are also printed without `-o wide`.
    ...workloadColumns<PodTemplate>(({ template }) => template).map(({ column: { priority, ...column }, cell }) => ({ column, cell })),
    textColumn('Pod Labels', 'Labels of the pods.', ({ template }) => describeLabels(template?.metadata?.labels)),
  ),
})
