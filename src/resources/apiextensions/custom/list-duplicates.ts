// Items of sets and keyed lists must differ: what merging such lists relies on.

import { duplicate, type FieldError, invalid } from '../../../api/field-error.js'
import { isRecord } from '../../../schema/read.js'
import { writeAny } from '../../../schema/write.js'
import { additionalSchema, itemSchema, type JsonSchema } from '../json-schema.js'

export function validateLists(value: unknown, schema: JsonSchema | undefined, path: string): readonly FieldError[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const items = itemSchema(schema)
    return [...findDuplicates(value, schema, path), ...value.flatMap((item, i) => validateLists(item, items, `${path}[${i}]`))]
  }
  if (!isRecord(value)) return []
  const additional = additionalSchema(schema)
  return Object.entries(value).flatMap(([name, member]) => {
    const own = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    return own === undefined
      ? validateLists(member, additional, `${path}[${name}]`)
      : validateLists(member, own, path === '' ? name : `${path}.${name}`)
  })
}

function findDuplicates(items: readonly unknown[], schema: JsonSchema, path: string): readonly FieldError[] {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return []
  // One that has no key ends the look at a list.
  const stray = type === 'set' ? -1 : items.findIndex((item) => item !== null && !isRecord(item))
  if (stray !== -1) return [invalid(`${path}[${stray}]`, items[stray], 'must be an object for an array of list-type map')]
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: unknown): unknown =>
    type === 'set' || !isRecord(item)
      ? item
      : Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(item, key) ? [[key, item[key]]] : [])))
  const seen = new Set<string>()
  const errors: FieldError[] = []
  items.forEach((item, i) => {
    const key = keyOf(item)
    const text = writeAny(key)
    if (seen.has(text)) errors.push(duplicate(`${path}[${i}]`, key))
    seen.add(text)
  })
  return errors
}
