// How scheduler and drivers settle on a node for a pod that claims resources: the scheduler proposes nodes, drivers rule some out.

import { defineResource } from '../../api/definition.js'
import { duplicate, type FieldError, tooLongFor } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkText } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { type PodScheduling, podScheduling as schema } from './v1alpha1.schema.js'

const nodesLimit = 128

function validateNodes(nodes: readonly string[], field: string): readonly FieldError[] {
  const seen = new Set<string>()
  const errors = nodes.flatMap((node, i): readonly FieldError[] => {
    if (seen.has(node)) return [duplicate(`${field}[${i}]`, node)]
    seen.add(node)
    return checkText(node, `${field}[${i}]`, dnsSubdomain)
  })
  return nodes.length > nodesLimit ? [...errors, tooLongFor(field, nodesLimit)] : errors
}

function validateStatus(next: PodScheduling): readonly FieldError[] {
  const seen = new Set<string>()
  return (next.status?.resourceClaims ?? []).flatMap(({ name = '', unsuitableNodes = [] }, i) => {
    const field = `status.claims[${i}]`
    const errors = validateNodes(unsuitableNodes, `${field}.unsuitableNodes`)
    if (seen.has(name)) return [...errors, duplicate(field, name)]
    seen.add(name)
    return errors
  })
}

export const podScheduling = defineResource<PodScheduling>({
  group: { stem: 'resource' },
  kind: 'PodScheduling',
  resource: 'podschedulings',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (scheduling) => ({ ...scheduling, status: {} }),
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? {} }),
  validate: ({ spec }) => validateNodes(spec?.potentialNodes ?? [], 'spec.potentialNodes'),
  checks: { update: ['metadata', 'own', 'metadataChange', 'metadata', 'own'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: validateStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [nameColumn, textColumn('SelectedNode', 'The node that the scheduler prefers.'), ageColumn],
    cells: ({ metadata, spec }, { now }) => [metadata?.name ?? '', spec?.selectedNode ?? '', ageOf(metadata?.creationTimestamp, now)],
  },
})
