// Reads the first document with the `yaml` package, but resolves plain scalars with our rules, so that a comparison with our parser shows
// only differences of the grammar.

import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseAllDocuments, type YAMLMap } from 'yaml'
import { floatText } from '../../packages/api/src/base/text/float-text.js'
import { resolvePlain } from '../../packages/api/src/codec/yaml/resolve-scalar.js'

interface PackageReading {
  readonly value?: unknown
  /** Error codes of the package. */
  readonly problems: readonly string[]
  /** Reasons why our parser rejects or reads differently what the package accepts. */
  readonly knownDifferences: ReadonlySet<string>
  /** True if more documents follow. */
  readonly hasMore: boolean
}

export function readByPackage(text: string): PackageReading {
  const documents = parseAllDocuments(text, { version: '1.1', uniqueKeys: false, merge: false, logLevel: 'silent', strict: true })
  const first = documents[0]
  const knownDifferences = new Set<string>()
  const hasMore = documents.length > 1
  if (first === undefined) return { value: null, problems: [], knownDifferences, hasMore }
  if (first.errors.length > 0) return { problems: first.errors.map(({ code }) => code), knownDifferences, hasMore }
  const reader = new NodeReader(first, knownDifferences)
  try {
    return { value: reader.value(first.contents), problems: [], knownDifferences, hasMore }
  } catch (thrown) {
    return { problems: [String(thrown)], knownDifferences, hasMore }
  }
}

class NodeReader {
  readonly #document: Document.Parsed
  readonly #knownDifferences: Set<string>
  #depth = 0
  constructor(document: Document.Parsed, knownDifferences: Set<string>) {
    this.#document = document
    this.#knownDifferences = knownDifferences
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
    if (node.tag !== undefined) this.#knownDifferences.add('a tag')
    if (isScalar(node)) return this.#scalar(node)
    if (isSeq(node)) return node.items.map((item) => this.value(item as Node))
    if (isMap(node)) return this.#map(node)
    throw new Error('UNKNOWN_NODE')
  }

  #scalar(node: { readonly type?: string | undefined; readonly source?: string | undefined; readonly value: unknown }): unknown {
    if (node.type !== 'PLAIN') return node.type === undefined ? node.value : String(node.source ?? node.value)
    const { value } = resolvePlain(node.source ?? '')
    if (typeof value === 'number' && !Number.isFinite(value)) this.#knownDifferences.add('a number that JSON cannot represent')
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
      this.#knownDifferences.add('a key that is not a scalar, or null')
      return ''
    }
    if (target.type === 'PLAIN' && target.source === '<<') this.#knownDifferences.add('a merge')
    const value = this.value(target as Node)
    if (value === null) this.#knownDifferences.add('a key that is not a scalar, or null')
    const isFloat = target.type === 'PLAIN' && resolvePlain(target.source ?? '').type === 'float'
    return isFloat ? floatText(Number(value)) : String(value)
  }
}
