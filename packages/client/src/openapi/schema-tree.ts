// The schemas of an OpenAPI document, followed over references.

import { compareText } from '../base/text-order.js'
import type { ServedResource } from '../client/discovery.js'
import { Failure } from './failure.js'

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
}

export class SchemaTree {
  readonly schemas: { readonly [name: string]: Schema }

  constructor(document: unknown) {
    this.schemas =
      (document as { readonly components?: { readonly schemas?: { readonly [name: string]: Schema } } }).components?.schemas ?? {}
  }

  /** The schema that is meant in the end. */
  resolve(schema: Schema): Schema {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
    if (ref === undefined) return schema
    return this.schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? schema
  }

  /** Of an object, of the items of a list, of the values of a map. */
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

  /** Of the field, and of what it is or has many of, where that has a name of its own. */
  descriptionsOf(schema: Schema): readonly string[] {
    const inner = this.resolve(schema)
    const texts = [schema.description, inner.description, inner.items === undefined ? '' : this.resolve(inner.items).description]
    return [...new Set(texts.map((text) => (text ?? '').trim()))].filter((text) => text !== '')
  }

  /** As people write it: `[]Object`, `map[string]string`. */
  typeOf(schema: Schema): string {
    const { type, format, items, properties, additionalProperties } = this.resolve(schema)
    if (format === 'int-or-string') return 'string'
    if (type === 'array' || items !== undefined) return items === undefined ? '[]Object' : `[]${this.typeOf(items)}`
    if (typeof additionalProperties === 'object' && properties === undefined) return `map[string]${this.typeOf(additionalProperties)}`
    return type === undefined || type === 'object' ? 'Object' : type
  }
}

export function findSchema({ schemas }: SchemaTree, { group, version, kind }: ServedResource): Schema {
  const isIt = (one: Schema): boolean =>
    Object.entries(one).some(
      ([name, value]) =>
        name.endsWith('-group-version-kind') &&
        Array.isArray(value) &&
        (value as readonly { readonly group: string; readonly version: string; readonly kind: string }[]).some(
          (it) => it.group === group && it.version === version && it.kind === kind,
        ),
    )
  const found = Object.values(schemas).find(isIt)
  if (found === undefined)
    throw new Failure(`couldn't find a description of ${kind} in version ${version}${group === '' ? '' : ` of ${group}`}`)
  return found
}
