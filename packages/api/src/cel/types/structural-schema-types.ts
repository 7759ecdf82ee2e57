// CEL types of a structural schema, with size bounds from which costs are estimated.

import { escapeName } from '../values/escape-property-name.js'
import type { Environment } from './type-check.js'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectNamed,
  stringType,
  type Type,
  timestampType,
} from './types.js'

/** Keywords of a structural schema that CEL uses. */
export interface ValueSchema {
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly properties?: { readonly [name: string]: ValueSchema }
  readonly additionalProperties?: ValueSchema | boolean
  readonly items?: ValueSchema
  readonly required?: readonly string[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

export interface SizedType {
  readonly type: Type
  /** Maximum number of items, map entries or bytes. */
  readonly maxElements: number
  /** Minimum bytes of the JSON. */
  readonly minBytes: number
  readonly element?: SizedType
  readonly key?: SizedType
  readonly fields?: ReadonlyMap<string, SizedType>
}

const maxRequestBytes = 3 * 1024 * 1024
const maxStringBytes = maxRequestBytes - 2
const minStringBytes = 2

const bool: SizedType = { type: boolType, maxElements: 0, minBytes: 4 }
const int: SizedType = { type: intType, maxElements: 0, minBytes: 1 }
const double: SizedType = { type: doubleType, maxElements: 0, minBytes: 1 }
const intOrString: SizedType = { type: dynType, maxElements: maxStringBytes, minBytes: 1 }
const duration: SizedType = { type: durationType, maxElements: 32, minBytes: 3 }
const date: SizedType = { type: timestampType, maxElements: 12, minBytes: 12 }
const dateTime: SizedType = { type: timestampType, maxElements: 32, minBytes: 21 }
const mapKey: SizedType = { type: stringType, maxElements: 0, minBytes: minStringBytes }

const atLeastZero = (count: number): number => Math.max(count, 0)

/** Adds apiVersion, kind and metadata, which resources always have. */
export const withTypeAndMetadata = (schema: ValueSchema): ValueSchema => ({
  ...schema,
  properties: {
    ...schema.properties,
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
  },
})

const isResource = (schema: ValueSchema): boolean => schema['x-kubernetes-embedded-resource'] === true

export const valuesOf = ({ additionalProperties }: ValueSchema): ValueSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined

export function typeOfSchema(schema: ValueSchema, isRoot: boolean, name: string): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString
  const completeSchema = isRoot ? withTypeAndMetadata(schema) : schema
  switch (completeSchema.type) {
    case 'array':
      return listType(completeSchema, name)
    case 'object':
      return valuesOf(completeSchema) === undefined ? objectType(completeSchema, name) : mapType(completeSchema, name)
    case 'string':
      return stringOf(completeSchema)
    case 'boolean':
      return bool
    case 'number':
      return double
    case 'integer':
      return int
    default:
      return undefined
  }
}

function listType({ items, maxItems }: ValueSchema, name: string): SizedType | undefined {
  const element = items === undefined ? undefined : typeOfSchema(items, isResource(items), `${name}.@idx`)
  if (element === undefined) return undefined
  const maxElements = maxItems === undefined ? Math.floor((maxRequestBytes - 2) / (element.minBytes + 1)) : atLeastZero(maxItems)
  return { type: listOf(element.type), maxElements, minBytes: 2, element }
}

function mapType(schema: ValueSchema, name: string): SizedType | undefined {
  const values = valuesOf(schema) as ValueSchema
  const element = typeOfSchema(values, isResource(values), `${name}.@elem`)
  if (element === undefined) return undefined
  const { maxProperties } = schema
  const maxElements = maxProperties === undefined ? Math.floor((maxRequestBytes - 2) / (element.minBytes + 6)) : atLeastZero(maxProperties)
  return { type: mapOf(stringType, element.type), maxElements, minBytes: 2, key: mapKey, element }
}

function objectType({ properties = {}, required = [] }: ValueSchema, name: string): SizedType {
  const fields = new Map<string, SizedType>()
  const requiredNames = new Set(required)
  let minBytes = 2
  for (const [property, schema] of Object.entries(properties)) {
    const field = typeOfSchema(schema, isResource(schema), `${name}.${property}`)
    if (field === undefined) continue
    const escaped = escapeName(property)
    if (escaped !== undefined) fields.set(escaped, field)
    if (requiredNames.has(property) && (schema.default === undefined || schema.default === null)) {
      minBytes += new TextEncoder().encode(property).length + field.minBytes + 4
    }
  }
  return { type: objectNamed(name), maxElements: 0, minBytes, fields }
}

function stringOf({ format, maxLength }: ValueSchema): SizedType {
  if (format === 'duration') return duration
  if (format === 'date') return date
  if (format === 'date-time') return dateTime
  if (format === 'byte') {
    return { type: bytesType, maxElements: maxLength === undefined ? maxStringBytes : atLeastZero(maxLength), minBytes: minStringBytes }
  }
  const maxElements = maxLength === undefined ? maxStringBytes : atLeastZero(maxLength) * 4
  return { type: stringType, maxElements, minBytes: minStringBytes }
}

/** Maximum number of values of the type in one request. */
export const maxOccurrences = ({ minBytes }: SizedType): number => Math.floor(maxRequestBytes / (minBytes + 1))

/** Environment with `self` and, in transition rules, `oldSelf`. */
export function environmentOf(root: SizedType, names: readonly string[]): Environment {
  const objects = new Map<string, SizedType>()
  const collect = (sized: SizedType): void => {
    if (sized.type.kind === 'object') objects.set(sized.type.name, sized)
    if (sized.element !== undefined) collect(sized.element)
    for (const field of sized.fields?.values() ?? []) collect(field)
  }
  collect(root)
  return {
    variables: Object.fromEntries(names.map((name) => [name, root.type])),
    fieldType: (object, field) => objects.get(object)?.fields?.get(field)?.type,
    hasObject: (name) => objects.has(name),
  }
}
