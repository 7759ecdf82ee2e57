// The configuration of PodNodeSelector: the node selector of namespaces that say none, and which ones a namespace allows.

import { parseLabelPairs } from '../label-pairs.js'
import type { ConfigContext } from './admission-config.js'
import { mappingOf, onlyFields, textOf } from './fields.js'

export type Labels = { readonly [label: string]: string }

export interface NodeSelectors {
  /** For namespaces without the annotation. */
  readonly clusterDefault: Labels
  /** What pods of a namespace may select at most, by its name. */
  readonly allowed: ReadonlyMap<string, Labels>
}

export const noNodeSelectors: NodeSelectors = { clusterDefault: {}, allowed: new Map() }

const defaultName = 'clusterDefaultNodeSelector'

export function parseNodeSelectors(value: unknown, { where }: ConfigContext): NodeSelectors {
  const outer = mappingOf(value, where)
  onlyFields(outer, ['podNodeSelectorPluginConfig'], where)
  const place = where === '' ? 'podNodeSelectorPluginConfig' : `${where}.podNodeSelectorPluginConfig`
  const fields = mappingOf(outer['podNodeSelectorPluginConfig'] ?? {}, place)
  const labelsOf = (name: string): Labels => {
    try {
      return parseLabelPairs(textOf(fields, name, place) ?? '')
    } catch (thrown) {
      throw new Error(`${place}.${name}: ${(thrown as Error).message}`)
    }
  }
  const names = Object.keys(fields).filter((name) => name !== defaultName)
  return { clusterDefault: labelsOf(defaultName), allowed: new Map(names.map((name) => [name, labelsOf(name)])) }
}
