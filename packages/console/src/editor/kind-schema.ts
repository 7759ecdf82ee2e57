// The schema of a kind from the server's OpenAPI v3 document, by field: for completion, explanations and a first text.

import { apiVersionOf, isNotFound, type ServedResource } from '@cluster-apiserver/client/browser.js'
import { findSchema, type Schema, SchemaTree } from '@cluster-apiserver/client/openapi/schema-tree.js'
import type { Session } from '../session/session.js'
import { cellText } from '../ui/format.js'
import type { Path } from './scan-yaml.js'

export interface Member {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

export class KindSchema {
  private readonly tree: SchemaTree
  private readonly root: Schema

  /** Undefined if the server describes no schema of the kind. */
  static async load(session: Session, { group, version, kind }: ServedResource, signal: AbortSignal): Promise<KindSchema | undefined> {
    const path = `/openapi/v3/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`
    let document: unknown
    try {
      document = await session.client.json({ path, signal })
    } catch (thrown) {
      // API versions of the aggregation layer have no document.
      if (isNotFound(thrown)) return undefined
      throw thrown
    }
    const tree = new SchemaTree(document)
    const root = findSchema(tree, { group, version, kind })
    return root === undefined ? undefined : new KindSchema(tree, root)
  }

  private constructor(tree: SchemaTree, root: Schema) {
    this.tree = tree
    this.root = root
  }

  /** Undefined for a field that the schema does not have. */
  at(path: Path): Schema | undefined {
    let schema: Schema | undefined = this.root
    for (const step of path) {
      if (schema === undefined) return undefined
      const inner: Schema = this.tree.resolve(schema)
      if (typeof step === 'number') schema = inner.items
      else
        schema = ownOf(inner.properties, step) ?? (typeof inner.additionalProperties === 'object' ? inner.additionalProperties : undefined)
    }
    return schema
  }

  /** With the default of the field itself, and without references. */
  resolvedAt(path: Path): Schema | undefined {
    const schema = this.at(path)
    if (schema === undefined) return undefined
    const inner = this.tree.resolve(schema)
    return schema.default === undefined ? inner : { ...inner, default: schema.default }
  }

  membersAt(path: Path): readonly Member[] {
    const schema = this.at(path)
    const properties = schema && this.tree.resolve(schema).properties
    if (schema === undefined || properties === undefined) return []
    const required = this.tree.requiredOf(schema)
    return [...this.tree.membersOf(schema)].map(([name, member]) => ({
      name,
      type: this.tree.typeOf(member),
      isRequired: required.includes(name),
      description: this.tree.descriptionOf(member),
    }))
  }

  enumAt(path: Path): readonly string[] {
    const schema = this.at(path)
    if (schema === undefined) return []
    const { type, enum: values } = this.tree.resolve(schema)
    return type === 'boolean' ? ['true', 'false'] : (values ?? []).map(cellText)
  }

  /** Facts of a field: type, default, enum, limits, validation rules. */
  explain(
    path: Path,
  ):
    | { readonly type: string; readonly description: string; readonly facts: readonly (readonly [name: string, text: string])[] }
    | undefined {
    const schema = this.at(path)
    if (schema === undefined) return undefined
    const inner = this.tree.resolve(schema)
    const facts: (readonly [string, string])[] = []
    const fallback = schema.default ?? inner.default
    if (fallback !== undefined) facts.push(['default', JSON.stringify(fallback)])
    if (inner.enum !== undefined) facts.push(['one of', inner.enum.map(cellText).join(', ')])
    for (const name of ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties', 'pattern'])
      if (inner[name] !== undefined) facts.push([name, String(inner[name])])
    for (const [name, value] of Object.entries(inner))
      if (name.endsWith('-validations') && Array.isArray(value)) facts.push(...ruleFacts(value))
    const required = this.tree.requiredOf(schema)
    if (required.length > 0) facts.push(['required', required.join(', ')])
    return { type: this.tree.typeOf(schema), description: this.tree.descriptionsOf(schema).join('\n\n'), facts }
  }

  /** The required fields with empty values. */
  skeleton(path: Path = [], depth = 0): unknown {
    const schema = this.at(path)
    const inner = schema && this.tree.resolve(schema)
    if (schema === undefined || inner === undefined) return ''
    if (inner.default !== undefined) return inner.default
    if (inner.enum?.[0] !== undefined) return inner.enum[0]
    if (inner.items !== undefined) return depth > maxDepth ? [] : [this.skeleton([...path, 0], depth + 1)]
    if (inner.properties !== undefined)
      return Object.fromEntries(
        depth > maxDepth ? [] : this.tree.requiredOf(schema).map((name) => [name, this.skeleton([...path, name], depth + 1)]),
      )
    return inner.type === 'integer' || inner.type === 'number' ? 0 : inner.type === 'boolean' ? false : inner.type === 'object' ? {} : ''
  }
}

const maxDepth = 8

/** Undefined for names such as `constructor`, which every object inherits. */
const ownOf = (properties: Schema['properties'], name: string): Schema | undefined =>
  properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined

const ruleFacts = (rules: readonly unknown[]): readonly (readonly [string, string])[] =>
  rules.map((each) => {
    const { rule, message } = each as { readonly rule?: unknown; readonly message?: unknown }
    return ['CEL rule', `${String(rule)}${message === undefined ? '' : ` — ${String(message)}`}`]
  })
