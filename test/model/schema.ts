// Rules of a structural schema in the API model: pruning, defaulting, nulls of fields that are not nullable, and validation.

import { canonical, type Fields, isFields, isList, mapFields, type Value } from './values.js'

export interface Schema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'
  readonly nullable?: true
  readonly default?: Value
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly Value[]
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly 'x-kubernetes-list-type'?: 'set' | 'map' | 'atomic'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic'
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
}

export interface Cause {
  readonly field: string
  readonly reason: string
}

export const fieldSchema = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema?.properties?.[name] ?? schema?.additionalProperties

const isPreserving = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

/** Applies `change` to all members of objects and elements of lists that have a schema. */
function descend(schema: Schema, value: Value, change: (schema: Schema, value: Value) => Value): Value {
  const { items } = schema
  if (isList(value)) return items === undefined ? value : value.map((item) => change(items, item))
  if (!isFields(value)) return value
  return mapFields(value, (member, name) => {
    const known = fieldSchema(schema, name)
    return known === undefined ? member : change(known, member)
  })
}

/** Removes fields that the schema does not name, except where it preserves unknown fields. */
export function prune(schema: Schema, value: Value): Value {
  const kept =
    isFields(value) && !isPreserving(schema)
      ? mapFields(value, (member, name) => (fieldSchema(schema, name) === undefined ? undefined : member))
      : value
  return descend(schema, kept, prune)
}

/** Adds defaults of absent fields, also in place of null where the field is not nullable. */
export function applyDefaults(schema: Schema, value: Value): Value {
  let filled = value
  if (isFields(value))
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const current = value[name]
      const isMissing = current === undefined || (current === null && field.nullable !== true)
      if (field.default !== undefined && isMissing) filled = { ...(filled as Fields), [name]: field.default }
    }
  return descend(schema, filled, applyDefaults)
}

/** Removes null members whose field has a schema and is not nullable; runs after defaults have replaced such nulls. */
export function dropNulls(schema: Schema, value: Value): Value {
  const kept = isFields(value)
    ? mapFields(value, (member, name) => {
        const field = fieldSchema(schema, name)
        return member === null && field !== undefined && field.nullable !== true ? undefined : member
      })
    : value
  return descend(schema, kept, dropNulls)
}

/** Reads a request body by the schema, as for POST, PUT and patches other than apply. */
export const decode = (schema: Schema, value: Value): Value => dropNulls(schema, applyDefaults(schema, prune(schema, value)))

const isWhole = (value: number | bigint): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

function hasType(type: Schema['type'], value: Value): boolean {
  if (type === 'array') return isList(value)
  if (type === 'object') return isFields(value)
  if (type === 'integer') return (typeof value === 'number' || typeof value === 'bigint') && isWhole(value)
  if (type === 'number') return typeof value === 'number' || typeof value === 'bigint'
  return typeof value === type
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (Number.isInteger(factor) && isWhole(value)) return BigInt(value) % BigInt(factor) === 0n
  const quotient = Number(value) / factor
  return Math.abs(quotient) <= Number.MAX_SAFE_INTEGER && Math.abs(quotient - Math.round(quotient)) < 1e-9
}

/** Causes of enums and limits, which apply also to a value of another type. */
function valueCauses(schema: Schema, value: Value, field: string): Cause[] {
  const causes: Cause[] = []
  const invalid = (): void => void causes.push({ field, reason: 'FieldValueInvalid' })
  // A fraction is truncated to the type of the enum.
  const member = typeof value === 'number' && schema.type === 'integer' ? Math.trunc(value) : value
  if (schema.enum !== undefined && !schema.enum.some((allowed) => canonical(allowed) === canonical(member)))
    causes.push({ field, reason: 'FieldValueNotSupported' })
  if (typeof value === 'string' && value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    causes.push({ field, reason: 'FieldValueTooLong' })
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (schema.multipleOf !== undefined && !isMultiple(value, schema.multipleOf)) invalid()
    if (value > (schema.maximum ?? Number.POSITIVE_INFINITY)) invalid()
    if (value < (schema.minimum ?? Number.NEGATIVE_INFINITY)) invalid()
  }
  if (isList(value) && value.length < (schema.minItems ?? 0)) invalid()
  return causes
}

/** Causes of types, values and required fields. */
export function validate(schema: Schema, value: Value, field: string): Cause[] {
  if (value === null && schema.nullable === true) return []
  const causes = valueCauses(schema, value, field)
  if (!hasType(schema.type, value)) return [{ field, reason: 'FieldValueTypeInvalid' }, ...causes]
  if (isList(value)) value.forEach((item, i) => void causes.push(...(schema.items ? validate(schema.items, item, `${field}[${i}]`) : [])))
  if (!isFields(value)) return causes
  for (const name of schema.required ?? []) if (!(name in value)) causes.push({ field: `${field}.${name}`, reason: 'FieldValueRequired' })
  for (const [name, member] of Object.entries(value)) {
    const known = fieldSchema(schema, name)
    if (known !== undefined) causes.push(...validate(known, member, `${field}.${name}`))
  }
  return causes
}

export const listType = (schema: Schema | undefined): 'set' | 'map' | 'atomic' => schema?.['x-kubernetes-list-type'] ?? 'atomic'

export const isAtomicMap = (schema: Schema | undefined): boolean => schema?.['x-kubernetes-map-type'] === 'atomic'

/** Keys of an element of a list of type map. */
export function keysOf(schema: Schema, item: Value): Fields {
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  return isFields(item) ? mapFields(item, (member, name) => (names.includes(name) ? member : undefined)) : {}
}

/** Causes of repeated elements in sets and of repeated keys in maps; each repeated value has one cause. */
export function duplicateCauses(schema: Schema, value: Value, field: string): Cause[] {
  if (isFields(value))
    return Object.entries(value).flatMap(([name, member]) => {
      const known = fieldSchema(schema, name)
      return known === undefined ? [] : duplicateCauses(known, member, `${field}.${name}`)
    })
  if (!isList(value)) return []
  const type = listType(schema)
  const counts = new Map<string, number>()
  const causes = value.flatMap((item, i): Cause[] => {
    const key = canonical(type === 'map' ? keysOf(schema, item) : item)
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return type !== 'atomic' && count === 2 ? [{ field: `${field}[${i}]`, reason: 'FieldValueDuplicate' }] : []
  })
  const { items } = schema
  if (items !== undefined) value.forEach((item, i) => void causes.push(...duplicateCauses(items, item, `${field}[${i}]`)))
  return causes
}
