// The line of a field in the text that an object was read from: the nearest place that is there, for what is missing.

import { parseYaml, type YamlNode } from '../../codec/yaml/parser.js'
import type { Manifest } from './read-manifests.js'

/** `spec.ports[0].name`, `metadata.labels[a.b/c]`: names and, in brackets, numbers and names. */
export function partsOfPath(path: string): readonly string[] {
  const parts: string[] = []
  const pattern = /\[([^\]]*)\]|[^.[\]]+/g
  for (let match = pattern.exec(path); match !== null; match = pattern.exec(path)) parts.push(match[1] ?? match[0])
  return parts
}

/** Trees of documents whose fields were looked for, the last one only: findings of one object come together. */
export class FieldLocator {
  private last: { readonly text: string; readonly root: YamlNode | undefined } | undefined

  /** Counted from 1. */
  lineOf({ text, line, within }: Manifest, path: string): number {
    const root = this.rootOf(text)
    if (root === undefined) return line
    let node: YamlNode = root
    let found = within === '' ? (firstLine(root) ?? root.line) : root.line
    for (const part of partsOfPath(within === '' ? path : `${within}.${path}`)) {
      const next = below(node, part)
      if (next === undefined) break
      node = next.value
      found = next.line
    }
    return line + found
  }

  private rootOf(text: string): YamlNode | undefined {
    if (this.last?.text === text) return this.last.root
    const root = parseYaml(text)
    this.last = { text, root }
    return root
  }
}

function below(node: YamlNode, part: string): { readonly value: YamlNode; readonly line: number } | undefined {
  const target = node.kind === 'alias' ? node.target : node
  if (target.kind === 'sequence') {
    const item = /^\d+$/.test(part) ? target.items[Number(part)] : undefined
    return item === undefined ? undefined : { value: item, line: firstLine(item) ?? item.line }
  }
  if (target.kind !== 'mapping') return undefined
  const entry = target.entries.find(({ key }) => key.kind === 'scalar' && key.text === part)
  return entry === undefined ? undefined : { value: entry.value, line: entry.key.line }
}

/** Of a mapping the line of its first key: the mapping itself may begin before. */
const firstLine = (node: YamlNode): number | undefined => (node.kind === 'mapping' ? node.entries[0]?.key.line : undefined)
