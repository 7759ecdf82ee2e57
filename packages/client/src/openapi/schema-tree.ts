// Reads OpenAPI v3 documents: the schema of a kind and the members of its fields.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ServedResource } from '../discovery.js'

export interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly [keyword: string]: unknown
}

export class SchemaTree {
  readonly schemas: { readonly [name: string]: Schema }

  constructor(document: unknown) {
    this.schemas =
      (document as { readonly components?: { readonly schemas?: { readonly [name: string]: Schema } } }).components?.schemas ?? {}
  }

  resolve(schema: Schema): Schema {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
    if (ref === undefined) return schema
    return this.schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? schema
  }

  membersOf(schema: Schema): ReadonlyMap<string, Schema> {
    const { properties, items, additionalProperties } = this.resolve(schema)
    if (properties !== undefined) return new Map(Object.entries(properties).sort(([a], [b]) => compareText(a, b)))
    if (items !== undefined) return this.membersOf(items)
    return typeof additionalProperties === 'object' ? this.membersOf(additionalProperties) : new Map()
  }

  requiredOf(schema: Schema): readonly string[] {
    const { required, items } = this.resolve(schema)
    return required ?? (items === undefined ? [] : this.requiredOf(items))
  }

  descriptionOf(schema: Schema): string {
    return (schema.description ?? this.resolve(schema).description ?? '').trim()
  }

  descriptionsOf(schema: Schema): readonly string[] {
    const inner = this.resolve(schema)
    const texts = [schema.description, inner.description, inner.items === undefined ? '' : this.resolve(inner.items).description]
    return [...new Set(texts.map((text) => (text ?? '').trim()))].filter((text) => text !== '')
  }

  typeOf(schema: Schema): string {
    const { type, format, items, properties, additionalProperties } = this.resolve(schema)
    if (format === 'int-or-string') return 'string'
    if (type === 'array' || items !== undefined) return items === undefined ? '[]Object' : `[]${this.typeOf(items)}`
    if (typeof additionalProperties === 'object' && properties === undefined) return `map[string]${this.typeOf(additionalProperties)}`
    return type === undefined || type === 'object' ? 'Object' : type
  }
}

type Kind = Pick<ServedResource, 'group' | 'version' | 'kind'>

export function findSchema({ schemas }: SchemaTree, { group, version, kind }: Kind): Schema | undefined {
  const isMatch = (schema: Schema): boolean =>
    Object.entries(schema).some(
      ([name, value]) =>
        name.endsWith('-group-version-kind') &&
        Array.isArray(value) &&
        (value as readonly { readonly group: string; readonly version: string; readonly kind: string }[]).some(
          (entry) => entry.group === group && entry.version === version && entry.kind === kind,
        ),
    )
  return Object.values(schemas).find(isMatch)
}
