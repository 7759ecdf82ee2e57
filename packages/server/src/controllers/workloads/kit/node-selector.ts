// Which nodes a pod's nodeSelector and required node affinity, and a volume's node affinity, select.

import { parseInt64 } from '@cluster-apiserver/api/api/integer.js'
import type { Labels } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'

interface SelectableNode {
  readonly name: string
  readonly labels: Labels
}

/** `spec.nodeSelector` and the required node affinity. */
export function matchesNodeAffinity(spec: PodSpec | undefined, node: SelectableNode): boolean {
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) if (node.labels[key] !== value) return false
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesNodeSelector(required, node)
}

export const matchesNodeSelector = ({ nodeSelectorTerms }: NodeSelector, node: SelectableNode): boolean =>
  (nodeSelectorTerms ?? []).some((term) => matchesNodeSelectorTerm(term, node))

/** An empty term matches no node. */
export function matchesNodeSelectorTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: SelectableNode): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  return (
    matchExpressions.every((requirement) => matchesRequirement(requirement, node.labels[requirement.key ?? ''])) &&
    matchFields.every((requirement) => requirement.key === 'metadata.name' && matchesRequirement(requirement, node.name))
  )
}

function matchesRequirement({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const actual = parseInt64(value ?? '')
      const bound = parseInt64(values[0] ?? '')
      if (actual === undefined || bound === undefined || values.length !== 1) return false
      return operator === 'Gt' ? actual > bound : actual < bound
    }
    default:
      return false
  }
}
