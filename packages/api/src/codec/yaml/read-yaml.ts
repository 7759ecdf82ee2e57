// YAML reader: first document to a JSON value, with string keys and expanded aliases.

import { quote } from '../../api/field-error.js'
import type { Json } from '../../api/object.js'
import { shorten } from '../../base/shorten.js'
import { decodeBase64 } from '../../base/text/base64.js'
import { floatText } from '../../base/text/float-text.js'
import { setMember } from '../../schema/json/read.js'
import { type AliasNode, type MappingNode, parseDocument, type ScalarNode, type SequenceNode, type YamlNode } from './parser.js'
import { type ResolvedScalar, resolvePlain } from './resolve-scalar.js'
import { scanError, valueError } from './yaml-error.js'

export interface YamlDocument {
  readonly value: Json
  /** Up to 100 messages such as `line 6: key "k" already set in map`. The last value wins. */
  readonly duplicates: readonly string[]
}

const maxDepth = 1000
/** Default number of characters that aliases may expand to, in addition to ten times the text length. Limits "billion laughs" documents. */
const aliasAllowance = 256 * 1024
const aliasFactor = 10
/** Characters that each value and key from an alias costs, in addition to its text. */
const nodeCost = 8

const maxDuplicates = 100

const forbiddenCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/

/** `aliasCharacters`: characters that aliases may expand to. */
export function readYaml(text: string, aliasCharacters = aliasAllowance + aliasFactor * text.length): YamlDocument {
  if (forbiddenCharacter.test(text)) throw scanError('control characters are not allowed', 0)
  const { root, isTree } = parseDocument(text)
  if (root === undefined) return { value: null, duplicates: [] }
  const reader = new Reader(aliasCharacters, isTree)
  return { value: reader.value(root), duplicates: reader.duplicates }
}

type Key = string | number | bigint | boolean

class Reader {
  readonly duplicates: string[] = []
  private readonly openAliases = new Set<string>()
  private allowance: number
  private depth = 0
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

  /** Reuses the array of a node with one parent: a document may have half a million nested lists. */
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

  private fill(node: MappingNode, draft: MappingDraft): void {
    for (const { key, value } of node.entries) {
      if (isMergeKey(key)) this.merge(value, draft)
      else this.member(this.key(key), value, draft)
    }
  }

  private member({ key, name }: MemberKey, value: YamlNode, { target, seen }: MappingDraft): void {
    const member = this.value(value)
    if (seen.has(key) && this.duplicates.length < maxDuplicates)
      this.duplicates.push(`line ${value.line + 1}: key ${typeof key === 'string' ? quote(key) : name} already set in map`)
    seen.add(key)
    setMember(target, name, member)
  }

  /** Merges `<<`; of several mappings the first wins. */
  private merge(node: YamlNode, draft: MappingDraft): void {
    const resolved = node.kind === 'alias' ? node.target : node
    if (resolved.kind === 'mapping') {
      if (node.kind === 'alias') this.alias(node, () => this.fill(resolved, draft))
      else this.fill(resolved, draft)
      return
    }
    if (node.kind !== 'sequence') throw mergeError()
    for (const item of node.items.toReversed()) {
      if ((item.kind === 'alias' ? item.target : item).kind !== 'mapping') throw mergeError()
      this.merge(item, draft)
    }
  }

  private key(node: YamlNode): MemberKey {
    const target = node.kind === 'alias' ? node.target : node
    if (target.kind !== 'scalar') throw valueError('invalid map key: a key must be a single value')
    const { type, value } = resolveNode(target)
    if (value === null) throw valueError('unsupported map key: null')
    if (node.kind === 'alias') this.charge(target.text.length + nodeCost)
    else this.spend(target.text.length + nodeCost)
    return { key: value, name: type === 'float' ? floatKey(Number(value)) : String(value) }
  }
}

interface MemberKey {
  readonly key: Key
  readonly name: string
}

interface MappingDraft {
  readonly target: Record<string, Json>
  readonly seen: Set<Key>
}

const mergeError = (): Error => valueError('map merge requires map or sequence of maps as the value')

const isMergeKey = (node: YamlNode): boolean => node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === 'merge')

/** The tag determines the type, then quotes, then the text. */
function resolveNode(node: ScalarNode): ResolvedScalar {
  if (node.tag === undefined) return node.isPlain ? resolvePlain(node.text) : { type: 'text', value: node.text }
  if (node.tag === 'binary') return { type: 'text', value: decodeBinary(node.text) }
  const taggedType = taggedTypes.get(node.tag)
  if (taggedType === undefined) return { type: 'text', value: node.text }
  const resolved = resolvePlain(node.text)
  if (resolved.type === taggedType) return resolved
  if (taggedType === 'float' && resolved.type === 'integer') return { type: 'float', value: Number(resolved.value) }
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

const floatKey = (value: number): string =>
  Number.isFinite(value) ? floatText(value + 0) : Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf'

function decodeBinary(text: string): string {
  const bytes = decodeBase64(text)
  if (typeof bytes === 'number') throw valueError('!!binary value contains invalid base64 data')
  return new TextDecoder().decode(bytes)
}
