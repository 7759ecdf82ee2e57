// Templates of pods as objects of their own.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { withMetadata } from '../../api/object.js'
import { nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { withNextGeneration } from './generation.js'
import { describeLabels } from './label-text.js'
import { templateWithoutGatedFields } from './pod-spec/gated-fields.js'
import { withTemplateDefaults } from './pod-spec/pod-spec-defaults.js'
import { templateWarnings } from './pod-spec/warnings.js'
import { validateTemplate } from './pod-template-rules.js'
import { type PodTemplate, podTemplateSpec, podTemplate as schema } from './v1.schema.js'
import { containerCells } from './workload-columns.js'

function defaults(object: PodTemplate, { identity }: RuleContext): PodTemplate {
  const template = withTemplateDefaults(object.template, identity)
  return template === object.template ? object : { ...object, template }
}

const withoutGated = (object: PodTemplate, old: PodTemplate | undefined, { gates }: RuleContext): PodTemplate => ({
  ...object,
  template: templateWithoutGatedFields(object.template ?? {}, old?.template, gates),
})

function prepareUpdate(next: PodTemplate, old: PodTemplate, context: RuleContext): PodTemplate {
  const kept = withoutGated(next, old, context)
  return withNextGeneration(kept, old, !sameBySchema(podTemplateSpec, kept.template ?? {}, old.template ?? {}))
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
  checks: { update: ['metadataChange', 'own'] },
  warnings: (next, old, { identity }) => templateWarnings({ next, old, template: next.template, path: 'template', identity }),
  deleteReturnsObject: true,
  table: {
    columns: [
      nameColumn,
      textColumn('Containers', 'Names of the containers in the template.'),
      textColumn('Images', 'Images of the containers in the template.'),
      textColumn('Pod Labels', 'Labels that the pods will have.'),
    ],
    cells: ({ metadata, template }) => [metadata?.name ?? '', ...containerCells(template), describeLabels(template?.metadata?.labels)],
  },
})
