// A YAML text to the JSON value that it stands for: the first document, mappings with text keys, aliases written out.

import { quote } from '../../api/field-error.js'
import type { Json } from '../../api/object.js'
import { shorten } from '../../base/shorten.js'
import { setMember } from '../../schema/read.js'
import { formatFloat } from './format-float.js'
import { type AliasNode, type MappingNode, parseDocument, type ScalarNode, type SequenceNode, type YamlNode } from './parser.js'
import { type ResolvedScalar, resolvePlain } from './resolve-scalar.js'
import { scanError, valueError } from './yaml-error.js'

export interface YamlDocument {
  readonly value: Json
  /** One sentence for each key that stood more than once: `line 6: key "k" already set in map`. The last one counts. */
  readonly duplicates: readonly string[]
}

const maxDepth = 1000
/** What aliases may write out, in characters: so much, and some times the text, so that the work stays in proportion to what was sent. */
const aliasAllowance = 256 * 1024
const aliasFactor = 10
/** What each value and key counts besides its characters. */
const nodeCost = 8

/** More of them tell nobody anything. */
const maxDuplicates = 100

const forbiddenCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/

/** Throws a YamlError. An empty text is null. */
export function readYaml(text: string): YamlDocument {
  if (forbiddenCharacter.test(text)) throw scanError('control characters are not allowed', 0)
  const { root, isTree } = parseDocument(text)
  if (root === undefined) return { value: null, duplicates: [] }
  const reader = new Reader(aliasAllowance + aliasFactor * text.length, isTree)
  return { value: reader.value(root), duplicates: reader.duplicates }
}

type Key = string | number | bigint | boolean

class Reader {
  readonly duplicates: string[] = []
  private readonly openAliases = new Set<string>()
  private allowance: number
  private depth = 0
  /** Each node is read once. */
  private readonly isTree: boolean

  constructor(allowance: number, isTree: boolean) {
    this.allowance = allowance
    this.isTree = isTree
  }

  value(node: YamlNode): Json {
    if (node.kind === 'scalar') return this.scalar(node)
    if (node.kind === 'alias') return this.alias(node, () => this.value(node.target))
    if (++this.depth > maxDepth) throw valueError(`exceeded max depth of ${maxDepth}`)
    this.spend(nodeCost)
    const value = node.kind === 'sequence' ? this.sequence(node) : this.mapping(node)
    this.depth--
    return value
  }

  /** Of lists in lists there may be half a million: where nobody reads a node again, its list becomes that of the values. */
  private sequence({ items }: SequenceNode): Json {
    if (!this.isTree || items.length === 0) return items.map((item) => this.value(item))
    const values = items as unknown as Json[]
    for (let i = 0; i < items.length; i++) values[i] = this.value(items[i] as YamlNode)
    return values
  }

  private alias<T>(node: AliasNode, read: () => T): T {
    if (this.openAliases.has(node.name)) throw valueError(`anchor '${shorten(node.name)}' value contains itself`)
    this.openAliases.add(node.name)
    const result = read()
    this.openAliases.delete(node.name)
    return result
  }

  /** Only what is written out by an alias is counted: the text itself was paid for. */
  private spend(size: number): void {
    if (this.openAliases.size > 0) this.charge(size)
  }

  private charge(size: number): void {
    this.allowance -= size
    if (this.allowance < 0) throw valueError('document contains excessive aliasing')
  }

  private scalar(node: ScalarNode): Json {
    this.spend(node.text.length + nodeCost)
    const { value } = resolveNode(node)
    if (typeof value === 'number' && !Number.isFinite(value)) throw valueError(`${shorten(node.text)} is no number in JSON`)
    return value
  }

  private mapping(node: MappingNode): Json {
    const target: Record<string, Json> = {}
    this.fill(node, { target, seen: new Set() })
    return target
  }

  private fill(node: MappingNode, filling: Filling): void {
    for (const { key, value } of node.entries) {
      if (isMergeKey(key)) this.merge(value, filling)
      else this.member(this.key(key), value, filling)
    }
  }

  private member({ key, name }: MemberKey, value: YamlNode, { target, seen }: Filling): void {
    const member = this.value(value)
    if (seen.has(key) && this.duplicates.length < maxDuplicates)
      this.duplicates.push(`line ${value.line + 1}: key ${typeof key === 'string' ? quote(key) : name} already set in map`)
    seen.add(key)
    setMember(target, name, member)
  }

  /** The members of other mappings, as if they stood here; of several mappings the first counts. */
  private merge(node: YamlNode, filling: Filling): void {
    const resolved = node.kind === 'alias' ? node.target : node
    if (resolved.kind === 'mapping') {
      if (node.kind === 'alias') this.alias(node, () => this.fill(resolved, filling))
      else this.fill(resolved, filling)
      return
    }
    if (node.kind !== 'sequence') throw wrongMerge()
    for (const item of node.items.toReversed()) {
      if ((item.kind === 'alias' ? item.target : item).kind !== 'mapping') throw wrongMerge()
      this.merge(item, filling)
    }
  }

  private key(node: YamlNode): MemberKey {
    const target = node.kind === 'alias' ? node.target : node
    if (target.kind !== 'scalar') throw valueError('invalid map key: a key must be a single value')
    const { type, value } = resolveNode(target)
    if (value === null) throw valueError('unsupported map key: null')
    if (node.kind === 'alias') this.charge(target.text.length + nodeCost)
    else this.spend(target.text.length + nodeCost)
    return { key: value, name: type === 'float' ? formatFloat(Number(value)) : String(value) }
  }
}

interface MemberKey {
  /** As it was written, before it became a text: `1` and `"1"` are two. */
  readonly key: Key
  /** The name of the member of a JSON object that it becomes. */
  readonly name: string
}

interface Filling {
  readonly target: Record<string, Json>
  readonly seen: Set<Key>
}

const wrongMerge = (): Error => valueError('map merge requires map or sequence of maps as the value')

const isMergeKey = (node: YamlNode): boolean => node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === 'merge')

/** A tag decides, then quotes, then how the text looks. */
function resolveNode(node: ScalarNode): ResolvedScalar {
  if (node.tag === undefined) return node.isPlain ? resolvePlain(node.text) : { type: 'text', value: node.text }
  if (node.tag === 'binary') return { type: 'text', value: decodeBinary(node.text) }
  const wanted = taggedTypes.get(node.tag)
  if (wanted === undefined) return { type: 'text', value: node.text }
  const resolved = resolvePlain(node.text)
  if (resolved.type === wanted) return resolved
  if (wanted === 'float' && resolved.type === 'integer') return { type: 'float', value: Number(resolved.value) }
  throw valueError(`cannot decode !!${tagNames[resolved.type]} \`${shorten(node.text)}\` as a !!${node.tag}`)
}

const tagNames: { readonly [Type in ResolvedScalar['type']]: string } = {
  text: 'str',
  integer: 'int',
  float: 'float',
  boolean: 'bool',
  null: 'null',
  timestamp: 'timestamp',
}
const taggedTypes = new Map<string, ResolvedScalar['type']>([
  ['int', 'integer'],
  ['float', 'float'],
  ['bool', 'boolean'],
  ['null', 'null'],
  ['timestamp', 'timestamp'],
])

function decodeBinary(text: string): string {
  const base64 = text.replace(/[\r\n]/g, '')
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw valueError('!!binary value contains invalid base64 data')
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
}
