// Lists and maps that merge: how a schema says whether a list is one value, a set, or a map with keys, and what that asks of its items.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { defaultOf, itemSchema, itemSchemas, type JsonSchema } from './json-schema.js'

const listTypes = ['atomic', 'set', 'map']
const mapTypes = ['atomic', 'granular']
const listTypeName = 'x-kubernetes-list-type'
const mapTypeName = 'x-kubernetes-map-type'
const keysName = 'x-kubernetes-list-map-keys'

export function validateListRules(schema: JsonSchema, path: string): readonly FieldError[] {
  const { [listTypeName]: listType, [mapTypeName]: mapType, [keysName]: keys = [] } = schema
  return [
    ...(mapType === undefined ? [] : checkTypeFor(schema, path, { type: 'object', keyword: mapTypeName })),
    ...(mapType === undefined || mapTypes.includes(mapType) ? [] : [notSupported(`${path}.${mapTypeName}`, mapType, mapTypes)]),
    ...(listType === undefined ? [] : checkTypeFor(schema, path, { type: 'array', keyword: listTypeName })),
    ...(listType === 'set' && schema.type === 'array' ? validateSetItems(itemSchema(schema), path) : []),
    ...(listType === undefined || listTypes.includes(listType) ? [] : [notSupported(`${path}.${listTypeName}`, listType, listTypes)]),
    ...(keys.length === 0 || listType === 'map' ? [] : [keysWithoutMap(listType, path)]),
    ...(listType === 'map' ? validateMapItems(schema, keys, path) : []),
    ...(listType === 'map' || listType === 'set' ? validateMergedItems(schema, { listType, keys }, path) : []),
  ]
}

function checkTypeFor(
  { type = '' }: JsonSchema,
  path: string,
  wanted: { readonly type: string; readonly keyword: string },
): readonly FieldError[] {
  if (type === wanted.type) return []
  const problem = `must be ${wanted.type} if ${wanted.keyword} is specified`
  return [type === '' ? required(`${path}.type`, problem) : invalid(`${path}.type`, type, problem)]
}

function keysWithoutMap(listType: string | undefined, path: string): FieldError {
  const problem = `must be map if ${keysName} is non-empty`
  return listType === undefined ? required(`${path}.${listTypeName}`, problem) : invalid(`${path}.${listTypeName}`, listType, problem)
}

/** The items of a set are compared as a whole, so that they must be owned as a whole. */
function validateSetItems(items: JsonSchema | undefined, path: string): readonly FieldError[] {
  const wrong = (name: string, value: unknown): readonly FieldError[] => [
    invalid(`${path}.items.${name}`, value, `must be atomic as item of a list with ${listTypeName}=set`),
  ]
  const listType = items?.[listTypeName]
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') return wrong(listTypeName, listType)
  // The type of list is shown here as well.
  return items?.type === 'object' && items[mapTypeName] !== 'atomic' ? wrong(mapTypeName, listType) : []
}

function validateMapItems(schema: JsonSchema, keys: readonly string[], path: string): readonly FieldError[] {
  const items = itemSchema(schema)
  const errors: FieldError[] = []
  if (keys.length === 0) errors.push(required(`${path}.${keysName}`, `must not be empty if ${listTypeName} is map`))
  if (schema.items === undefined) errors.push(required(`${path}.items`, `must have a schema if ${listTypeName} is map`))
  if (itemSchemas(schema).length > 0) {
    errors.push(invalid(`${path}.items`, schema.items, `must only have a single schema if ${listTypeName} is map`))
  }
  if (items === undefined) return errors
  if (items.type !== 'object') {
    return [...errors, invalid(`${path}.items.type`, items.type ?? '', `must be object if parent array's ${listTypeName} is map`)]
  }
  return [...errors, ...validateKeys(items, keys, path)]
}

function validateKeys(items: JsonSchema, keys: readonly string[], path: string): readonly FieldError[] {
  const wrong = (problem: string): FieldError => invalid(`${path}.${keysName}`, keys, problem)
  return keys.flatMap((key, i) => {
    const property = items.properties?.[key]
    const errors: FieldError[] = []
    if (property === undefined) errors.push(wrong('entries must all be names of item properties'))
    else if (property.type === 'array' || property.type === 'object') {
      const problem = `must be a scalar type if parent array's ${listTypeName} is map`
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, problem))
    }
    if (keys.indexOf(key) < i) errors.push(wrong('must not contain duplicate entries'))
    return errors
  })
}

interface MergedList {
  readonly listType: string
  readonly keys: readonly string[]
}

/** What tells items apart must always be there. */
function validateMergedItems(schema: JsonSchema, { listType, keys }: MergedList, path: string): readonly FieldError[] {
  const items = itemSchema(schema)
  if (items === undefined) return []
  const ofKeys = (listType === 'map' ? keys : []).flatMap((key) => {
    const property = items.properties?.[key]
    if (property === undefined) return []
    const at = `${path}.items.properties[${key}]`
    const isThere = defaultOf(property) !== undefined || (items.required ?? []).includes(key)
    return [
      ...(isThere
        ? []
        : [required(`${at}.default`, `this property is in ${keysName}, so it must have a default or be a required property`)]),
      ...(property.nullable === true ? [forbidden(`${at}.nullable`, `this property is in ${keysName}, so it cannot be nullable`)] : []),
    ]
  })
  const ofItems =
    items.nullable === true ? [forbidden(`${path}.items.nullable`, `cannot be nullable when ${listTypeName} is ${listType}`)] : []
  return [...ofItems, ...ofKeys]
}
