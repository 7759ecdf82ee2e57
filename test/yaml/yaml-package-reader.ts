// A text as the `yaml` package reads it: its tree of the first document, with the meaning that our own rules give to plain texts. What is
// compared is so the grammar; how single words are read is compared by itself.

import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseAllDocuments, type YAMLMap } from 'yaml'
import { formatFloat } from '../../src/codec/yaml/format-float.js'
import { resolvePlain } from '../../src/codec/yaml/resolve-scalar.js'

export interface OtherReading {
  readonly value?: unknown
  /** The package's codes of what it refuses. */
  readonly problems: readonly string[]
  /** What our reader refuses, or reads by rules of its own, and the package takes: the reasons. */
  readonly peculiar: ReadonlySet<string>
  /** Whether more documents follow the first. */
  readonly hasMore: boolean
}

export function readByPackage(text: string): OtherReading {
  const documents = parseAllDocuments(text, { version: '1.1', uniqueKeys: false, merge: false, logLevel: 'silent', strict: true })
  const first = documents[0]
  const peculiar = new Set<string>()
  const hasMore = documents.length > 1
  if (first === undefined) return { value: null, problems: [], peculiar, hasMore }
  if (first.errors.length > 0) return { problems: first.errors.map(({ code }) => code), peculiar, hasMore }
  const walk = new Walk(first, peculiar)
  try {
    return { value: walk.value(first.contents), problems: [], peculiar, hasMore }
  } catch (thrown) {
    return { problems: [String(thrown)], peculiar, hasMore }
  }
}

class Walk {
  readonly #document: Document.Parsed
  readonly #peculiar: Set<string>
  #depth = 0
  constructor(document: Document.Parsed, peculiar: Set<string>) {
    this.#document = document
    this.#peculiar = peculiar
  }

  value(node: Node | null | undefined): unknown {
    if (node === null || node === undefined) return null
    if (isAlias(node)) {
      if (++this.#depth > 100) throw new Error('CIRCULAR')
      const target = node.resolve(this.#document)
      if (target === undefined) throw new Error('UNKNOWN_ALIAS')
      const value = this.value(target)
      this.#depth--
      return value
    }
    if (node.tag !== undefined) this.#peculiar.add('a tag')
    if (isScalar(node)) return this.#scalar(node)
    if (isSeq(node)) return node.items.map((item) => this.value(item as Node))
    if (isMap(node)) return this.#map(node)
    throw new Error('UNKNOWN_NODE')
  }

  #scalar(node: { readonly type?: string | undefined; readonly source?: string | undefined; readonly value: unknown }): unknown {
    if (node.type !== 'PLAIN') return node.type === undefined ? node.value : String(node.source ?? node.value)
    const { value } = resolvePlain(node.source ?? '')
    if (typeof value === 'number' && !Number.isFinite(value)) this.#peculiar.add('a number that JSON has not')
    return value
  }

  #map(node: YAMLMap): unknown {
    const out: Record<string, unknown> = {}
    for (const { key, value } of node.items as Pair<Node, Node>[]) {
      const name = this.#key(key)
      Object.defineProperty(out, name, { value: this.value(value), enumerable: true, configurable: true, writable: true })
    }
    return out
  }

  #key(key: Node | null): string {
    const target = isAlias(key) ? key.resolve(this.#document) : key
    if (target === null || target === undefined || !isScalar(target)) {
      this.#peculiar.add('a key that is no text')
      return ''
    }
    if (target.type === 'PLAIN' && target.source === '<<') this.#peculiar.add('a merge')
    const value = this.value(target as Node)
    if (value === null) this.#peculiar.add('a key that is no text')
    const isFloat = target.type === 'PLAIN' && resolvePlain(target.source ?? '').type === 'float'
    return isFloat ? formatFloat(Number(value)) : String(value)
  }
}
