// YAML parser: tokens to a node tree of the first document. Aliases refer to their nodes; scalars have no types yet.

import { shorten } from '../../base/shorten.js'
import { Scanner } from './scanner.js'
import type { Token, TokenKind } from './token.js'
import { parseError, valueError } from './yaml-error.js'

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly text: string
  readonly tag: CoreTag | undefined
  /** True if the text determines the type: without quotes and tag, or with the tag `!`. */
  readonly isPlain: boolean
  readonly line: number
}

export interface SequenceNode {
  readonly kind: 'sequence'
  items: readonly YamlNode[]
  readonly line: number
}

export interface MappingNode {
  readonly kind: 'mapping'
  entries: readonly YamlEntry[]
  readonly line: number
}

export interface AliasNode {
  readonly kind: 'alias'
  readonly name: string
  readonly target: AnchoredNode
  readonly line: number
}

interface YamlEntry {
  readonly key: YamlNode
  readonly value: YamlNode
}

type AnchoredNode = ScalarNode | SequenceNode | MappingNode
export type YamlNode = AnchoredNode | AliasNode

export const parseYaml = (text: string): YamlNode | undefined => parseDocument(text).root

/** `isTree`: the document has no anchors, so every node has one parent. */
export function parseDocument(text: string): { readonly root: YamlNode | undefined; readonly isTree: boolean } {
  const parser = new Parser(new Scanner(text))
  return { root: parser.parseFirst(), isTree: parser.anchors.size === 0 }
}

const corePrefix = 'tag:yaml.org,2002:'
const coreTags = ['str', 'int', 'float', 'bool', 'null', 'timestamp', 'binary', 'merge', 'seq', 'map'] as const
type CoreTag = (typeof coreTags)[number]
const knownTags: ReadonlyMap<string, CoreTag> = new Map(coreTags.map((tag) => [tag, tag]))

const blockFollowers: ReadonlySet<TokenKind> = new Set(['key', 'value', 'block-end'])
const emptyDocumentFollowers: ReadonlySet<TokenKind> = new Set(['directive', 'document-start', 'document-end', 'stream-end'])

interface Properties {
  readonly anchor: string | undefined
  /** `!` makes an empty node a string; otherwise the text determines the type, even if quoted. */
  readonly tag: CoreTag | '!' | undefined
  readonly line: number
}

/** `mapping-value` may be a sequence at the indentation of its key. */
type NodeContext = 'flow' | 'block' | 'mapping-value'

class Parser {
  private readonly scanner: Scanner
  readonly anchors = new Map<string, AnchoredNode>()

  constructor(scanner: Scanner) {
    this.scanner = scanner
  }

  parseFirst(): YamlNode | undefined {
    while (this.is('document-end')) this.scanner.take()
    if (this.is('stream-end')) return undefined
    if (this.is('directive') || this.is('document-start')) this.documentStart()
    const isEmpty = emptyDocumentFollowers.has(this.scanner.peek().kind)
    const root = isEmpty ? this.emptyScalar() : this.node('block')
    // Reads one token more to report scanner errors; further documents are ignored.
    this.scanner.peek()
    return root
  }

  private is(kind: TokenKind): boolean {
    return this.scanner.peek().kind === kind
  }

  private documentStart(): void {
    while (this.is('directive')) {
      const { value, line } = this.scanner.take()
      if (value !== '1.1') throw parseError('found incompatible YAML document', line)
    }
    const token = this.scanner.take()
    if (token.kind !== 'document-start') throw parseError('did not find expected <document start>', token.line)
  }

  private node(context: NodeContext): YamlNode {
    const first = this.scanner.peek()
    if (first.kind === 'alias') return this.alias(this.scanner.take())
    const properties = this.properties()
    const token = this.scanner.peek()
    if (token.kind === '-' && context === 'mapping-value') return this.unindentedSequence(properties)
    switch (token.kind) {
      case 'scalar':
        return this.scalar(properties)
      case '[':
        return this.flowSequence(properties)
      case '{':
        return this.flowMapping(properties)
      case 'sequence-start':
        if (context !== 'flow') return this.blockSequence(properties)
        break
      case 'mapping-start':
        if (context !== 'flow') return this.blockMapping(properties)
        break
    }
    if (properties.anchor === undefined && properties.tag === undefined) throw parseError('did not find expected node content', token.line)
    return this.anchored(properties, {
      kind: 'scalar',
      text: '',
      tag: properties.tag === '!' ? 'str' : properties.tag,
      isPlain: properties.tag === undefined,
      line: first.line,
    })
  }

  private alias(token: Token): AliasNode {
    const name = token.value ?? ''
    const target = this.anchors.get(name)
    if (target === undefined) throw valueError(`unknown anchor '${shorten(name)}' referenced`)
    return { kind: 'alias', name, target, line: token.line }
  }

  private properties(): Properties {
    const { kind, line } = this.scanner.peek()
    if (kind !== 'anchor' && kind !== 'tag') return { anchor: undefined, tag: undefined, line }
    let anchor: string | undefined
    let tag: CoreTag | '!' | undefined
    for (;;) {
      if (this.is('anchor') && anchor === undefined) anchor = this.scanner.take().value
      else if (this.is('tag') && tag === undefined) tag = coreTagOf(this.scanner.take())
      else return { anchor, tag, line }
    }
  }

  private anchored<T extends AnchoredNode>({ anchor }: Properties, node: T): T {
    if (anchor !== undefined) this.anchors.set(anchor, node)
    return node
  }

  private emptyScalar(): ScalarNode {
    return { kind: 'scalar', text: '', tag: undefined, isPlain: true, line: this.scanner.peek().line }
  }

  private scalar(properties: Properties): ScalarNode {
    const token = this.scanner.take()
    const { tag } = properties
    const isPlain = tag === '!' || (tag === undefined && token.isPlain === true)
    const line = properties.line
    return this.anchored(properties, { kind: 'scalar', text: token.value ?? '', tag: tag === '!' ? undefined : tag, isPlain, line })
  }

  private flowSequence(properties: Properties): SequenceNode {
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: emptyList, line: properties.line })
    let items: YamlNode[] | undefined
    this.scanner.take()
    for (let isFirst = true; !this.is(']'); isFirst = false) {
      if (!isFirst) this.separator(']')
      if (this.is(']')) break
      items = append(items, this.is('key') ? this.pairInSequence() : this.node('flow'))
    }
    this.scanner.take()
    node.items = items ?? emptyList
    return node
  }

  /** `[a: b]` is a sequence with one mapping. */
  private pairInSequence(): MappingNode {
    const { line } = this.scanner.take()
    const key = this.is('value') || this.is(',') || this.is(']') ? this.emptyScalar() : this.node('flow')
    return { kind: 'mapping', entries: [{ key, value: this.flowValue(']') }], line }
  }

  private flowMapping(properties: Properties): MappingNode {
    const node = this.anchored<MappingNode>(properties, { kind: 'mapping', entries: emptyList, line: properties.line })
    let entries: YamlEntry[] | undefined
    this.scanner.take()
    for (let isFirst = true; !this.is('}'); isFirst = false) {
      if (!isFirst) this.separator('}')
      if (this.is('}')) break
      entries = append(entries, this.flowEntry())
    }
    this.scanner.take()
    node.entries = entries ?? emptyList
    return node
  }

  /** `{a: b}`, `{? a}`, or `{a}` with a null value. */
  private flowEntry(): YamlEntry {
    if (!this.is('key')) return { key: this.node('flow'), value: this.emptyScalar() }
    this.scanner.take()
    const key = this.is('value') || this.is(',') || this.is('}') ? this.emptyScalar() : this.node('flow')
    return { key, value: this.flowValue('}') }
  }

  private flowValue(closing: ']' | '}'): YamlNode {
    if (!this.is('value')) return this.emptyScalar()
    this.scanner.take()
    return this.is(',') || this.is(closing) ? this.emptyScalar() : this.node('flow')
  }

  private separator(closing: ']' | '}'): void {
    const token = this.scanner.peek()
    if (token.kind !== ',') throw parseError(`did not find expected ',' or '${closing}'`, token.line)
    this.scanner.take()
  }

  private blockSequence(properties: Properties): SequenceNode {
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: emptyList, line: properties.line })
    let items: YamlNode[] | undefined
    this.scanner.take()
    while (this.is('-')) {
      this.scanner.take()
      items = append(items, this.is('-') || this.is('block-end') ? this.emptyScalar() : this.node('block'))
    }
    const end = this.scanner.take()
    if (end.kind !== 'block-end') throw parseError("did not find expected '-' indicator", end.line)
    node.items = items ?? emptyList
    return node
  }

  /** A sequence at the indentation of its key. */
  private unindentedSequence(properties: Properties): SequenceNode {
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: emptyList, line: properties.line })
    let items: YamlNode[] | undefined
    while (this.is('-')) {
      this.scanner.take()
      const isEmpty = this.is('-') || blockFollowers.has(this.scanner.peek().kind)
      items = append(items, isEmpty ? this.emptyScalar() : this.node('block'))
    }
    node.items = items ?? emptyList
    return node
  }

  private blockMapping(properties: Properties): MappingNode {
    const node = this.anchored<MappingNode>(properties, { kind: 'mapping', entries: emptyList, line: properties.line })
    let entries: YamlEntry[] | undefined
    this.scanner.take()
    while (this.is('key')) {
      const key = this.nodeAfterIndicator()
      entries = append(entries, { key, value: this.is('value') ? this.nodeAfterIndicator() : this.emptyScalar() })
    }
    const end = this.scanner.take()
    if (end.kind !== 'block-end') throw parseError('did not find expected key', end.line)
    node.entries = entries ?? emptyList
    return node
  }

  private nodeAfterIndicator(): YamlNode {
    const { line } = this.scanner.take()
    if (!blockFollowers.has(this.scanner.peek().kind)) return this.node('mapping-value')
    return { kind: 'scalar', text: '', tag: undefined, isPlain: true, line }
  }
}

const emptyList: readonly never[] = []

/** Starts with a capacity of one: most nested lists have one item, and push would reserve 17. */
function append<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item]
  list.push(item)
  return list
}

function coreTagOf({ name = '', value = '', line }: Token): CoreTag | '!' {
  if (name === '' && value === '!') return '!'
  if (name !== '' && name !== '!' && name !== '!!') throw parseError('found undefined tag handle', line)
  const isVerbatim = name === '' && value.startsWith(corePrefix)
  const coreTag = name === '!!' ? knownTags.get(value) : isVerbatim ? knownTags.get(value.slice(corePrefix.length)) : undefined
  if (coreTag === undefined) throw parseError(`found unsupported tag '${shorten(name + value)}'`, line)
  return coreTag
}
