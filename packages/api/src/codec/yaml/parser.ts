// YAML tokens to a tree: the first document of a text, with its anchors bound. What the texts mean is not yet asked.

import { shorten } from '../../base/shorten.js'
import { Scanner } from './scanner.js'
import type { Token, TokenKind } from './token.js'
import { parseError, valueError } from './yaml-error.js'

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly text: string
  readonly tag: CoreTag | undefined
  /** Written without quotes and without a tag: what it is must be seen from the text. */
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

export interface YamlEntry {
  readonly key: YamlNode
  readonly value: YamlNode
}

export type AnchoredNode = ScalarNode | SequenceNode | MappingNode
export type YamlNode = AnchoredNode | AliasNode

/** The root of the first document; undefined when there is none. What follows it must at least begin a document. */
export const parseYaml = (text: string): YamlNode | undefined => parseDocument(text).root

/** The same; `isTree`: nothing in it is spoken of twice. */
export function parseDocument(text: string): { readonly root: YamlNode | undefined; readonly isTree: boolean } {
  const parser = new Parser(new Scanner(text))
  return { root: parser.firstDocument(), isTree: parser.anchors.size === 0 }
}

const corePrefix = 'tag:yaml.org,2002:'
const coreTags = ['str', 'int', 'float', 'bool', 'null', 'timestamp', 'binary', 'merge', 'seq', 'map'] as const
export type CoreTag = (typeof coreTags)[number]
const knownTags: ReadonlyMap<string, CoreTag> = new Map(coreTags.map((tag) => [tag, tag]))

const blockFollowers: ReadonlySet<TokenKind> = new Set(['key', 'value', 'block-end'])
const documentBeginnings: ReadonlySet<TokenKind> = new Set(['directive', 'document-start', 'document-end', 'stream-end'])

interface Properties {
  readonly anchor: string | undefined
  /** `!` alone takes the place of a tag and says nothing. */
  readonly tag: CoreTag | '!' | undefined
  readonly line: number
}

/** Where a node stands: a block may hold indentation, and the value of a key a list that is not indented below it. */
type Place = 'flow' | 'block' | 'block-or-list'

class Parser {
  private readonly scanner: Scanner
  readonly anchors = new Map<string, AnchoredNode>()

  constructor(scanner: Scanner) {
    this.scanner = scanner
  }

  firstDocument(): YamlNode | undefined {
    while (this.is('document-end')) this.scanner.take()
    if (this.is('stream-end')) return undefined
    if (this.is('directive') || this.is('document-start')) this.documentStart()
    const isEmpty = documentBeginnings.has(this.scanner.peek().kind)
    const root = isEmpty ? this.empty() : this.node('block')
    // Of what follows only the next token is looked at, and it may be anything: the first document is all that was asked for.
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

  private node(place: Place): YamlNode {
    const first = this.scanner.peek()
    if (first.kind === 'alias') return this.alias(this.scanner.take())
    const properties = this.properties()
    const token = this.scanner.peek()
    if (token.kind === '-' && place === 'block-or-list') return this.list(properties)
    switch (token.kind) {
      case 'scalar':
        return this.scalar(properties)
      case '[':
        return this.flowSequence(properties)
      case '{':
        return this.flowMapping(properties)
      case 'sequence-start':
        if (place !== 'flow') return this.blockSequence(properties)
        break
      case 'mapping-start':
        if (place !== 'flow') return this.blockMapping(properties)
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

  /** An anchor and a tag, in either order. */
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

  private empty(): ScalarNode {
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
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: nothing, line: properties.line })
    let items: YamlNode[] | undefined
    this.scanner.take()
    for (let isFirst = true; !this.is(']'); isFirst = false) {
      if (!isFirst) this.separator(']')
      if (this.is(']')) break
      items = withOneMore(items, this.is('key') ? this.pairInSequence() : this.node('flow'))
    }
    this.scanner.take()
    node.items = items ?? nothing
    return node
  }

  /** `[a: b]` is a list of a mapping. */
  private pairInSequence(): MappingNode {
    const { line } = this.scanner.take()
    const key = this.is('value') || this.is(',') || this.is(']') ? this.empty() : this.node('flow')
    return { kind: 'mapping', entries: [{ key, value: this.flowValue(']') }], line }
  }

  private flowMapping(properties: Properties): MappingNode {
    const node = this.anchored<MappingNode>(properties, { kind: 'mapping', entries: nothing, line: properties.line })
    let entries: YamlEntry[] | undefined
    this.scanner.take()
    for (let isFirst = true; !this.is('}'); isFirst = false) {
      if (!isFirst) this.separator('}')
      if (this.is('}')) break
      entries = withOneMore(entries, this.flowEntry())
    }
    this.scanner.take()
    node.entries = entries ?? nothing
    return node
  }

  /** `{a: b}`, `{? a}`, or `{a}` with nothing as its value. */
  private flowEntry(): YamlEntry {
    if (!this.is('key')) return { key: this.node('flow'), value: this.empty() }
    this.scanner.take()
    const key = this.is('value') || this.is(',') || this.is('}') ? this.empty() : this.node('flow')
    return { key, value: this.flowValue('}') }
  }

  private flowValue(closing: ']' | '}'): YamlNode {
    if (!this.is('value')) return this.empty()
    this.scanner.take()
    return this.is(',') || this.is(closing) ? this.empty() : this.node('flow')
  }

  private separator(closing: ']' | '}'): void {
    const token = this.scanner.peek()
    if (token.kind !== ',') throw parseError(`did not find expected ',' or '${closing}'`, token.line)
    this.scanner.take()
  }

  private blockSequence(properties: Properties): SequenceNode {
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: nothing, line: properties.line })
    let items: YamlNode[] | undefined
    this.scanner.take()
    while (this.is('-')) {
      this.scanner.take()
      items = withOneMore(items, this.is('-') || this.is('block-end') ? this.empty() : this.node('block'))
    }
    const end = this.scanner.take()
    if (end.kind !== 'block-end') throw parseError("did not find expected '-' indicator", end.line)
    node.items = items ?? nothing
    return node
  }

  /** A list below a key that is not indented deeper than the key. */
  private list(properties: Properties): SequenceNode {
    const node = this.anchored<SequenceNode>(properties, { kind: 'sequence', items: nothing, line: properties.line })
    let items: YamlNode[] | undefined
    while (this.is('-')) {
      this.scanner.take()
      const isEmpty = this.is('-') || blockFollowers.has(this.scanner.peek().kind)
      items = withOneMore(items, isEmpty ? this.empty() : this.node('block'))
    }
    node.items = items ?? nothing
    return node
  }

  private blockMapping(properties: Properties): MappingNode {
    const node = this.anchored<MappingNode>(properties, { kind: 'mapping', entries: nothing, line: properties.line })
    let entries: YamlEntry[] | undefined
    this.scanner.take()
    while (this.is('key')) {
      const key = this.afterSign()
      entries = withOneMore(entries, { key, value: this.is('value') ? this.afterSign() : this.empty() })
    }
    const end = this.scanner.take()
    if (end.kind !== 'block-end') throw parseError('did not find expected key', end.line)
    node.entries = entries ?? nothing
    return node
  }

  /** The node behind a key's or a value's sign, if there is one. */
  private afterSign(): YamlNode {
    const { line } = this.scanner.take()
    if (!blockFollowers.has(this.scanner.peek().kind)) return this.node('block-or-list')
    return { kind: 'scalar', text: '', tag: undefined, isPlain: true, line }
  }
}

const nothing: readonly never[] = []

/** With room for one at first: most lists in lists have one, and the runtime would make room for seventeen. */
function withOneMore<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item]
  list.push(item)
  return list
}

/** Tags of other makers say nothing to anybody here, and are refused. */
function coreTagOf({ name = '', value = '', line }: Token): CoreTag | '!' {
  if (name === '' && value === '!') return '!'
  if (name !== '' && name !== '!' && name !== '!!') throw parseError('found undefined tag handle', line)
  const isSpeltOut = name === '' && value.startsWith(corePrefix)
  const known = name === '!!' ? knownTags.get(value) : isSpeltOut ? knownTags.get(value.slice(corePrefix.length)) : undefined
  if (known === undefined) throw parseError(`found unsupported tag '${shorten(name + value)}'`, line)
  return known
}
