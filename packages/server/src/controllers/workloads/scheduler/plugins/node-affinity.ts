// NodeAffinity: nodeSelector and node affinity.

import type { NodeSelectorTerm } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { matchesNodeAffinity, matchesNodeSelectorTerm } from '../../kit/node-selector.js'
import { type NodePlugin, type Preparation, refuseFinally, scaledToHighest } from './plugin.js'

const refusal = refuseFinally("node(s) didn't match Pod's node affinity/selector")

export const nodeAffinity: NodePlugin = {
  name: 'NodeAffinity',
  prepare: ({ pod: { spec } }): Preparation | undefined => {
    const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    if (spec?.nodeSelector === undefined && required === undefined) return undefined
    const nodeNames = namesOf(required?.nodeSelectorTerms ?? [])
    if (nodeNames === 'conflict') return { refused: 'pod affinity terms conflict' }
    return {
      filter: (node) => (matchesNodeAffinity(spec, node) ? undefined : refusal),
      ...(nodeNames === undefined ? {} : { nodeNames }),
    }
  },
  weight: 2,
  score: ({ pod: { spec } }, _, nodes) => {
    const preferred = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (preferred.length === 0) return undefined
    return scaledToHighest(
      nodes.map((node) =>
        preferred.reduce((sum, { weight = 0, preference = {} }) => (matchesNodeSelectorTerm(preference, node) ? sum + weight : sum), 0),
      ),
    )
  },
}

/** Names of the only nodes that the terms can match; undefined: not limited by names. */
function namesOf(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined | 'conflict' {
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    let ofTerm: readonly string[] | undefined
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In') ofTerm = ofTerm?.filter((name) => values.includes(name)) ?? values
    if (ofTerm === undefined) return undefined
    if (ofTerm.length === 0) return 'conflict'
    for (const name of ofTerm) names.add(name)
  }
  return names.size === 0 ? undefined : names
}
