// Validates the keywords of a CRD schema at every level: types, list and map topology, unsupported keywords.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import {
  additionalSchema,
  defaultOf,
  isEmbedded,
  isResourceMember,
  itemSchema,
  itemSchemas,
  type JsonSchema,
  schemasOf,
} from './json-schema.js'
import { innerSchemas, validateExpressions } from './schema-search.js'

const listTypes = ['atomic', 'set', 'map']
const mapTypes = ['atomic', 'granular']
const listTypeName = 'x-kubernetes-list-type'
const mapTypeName = 'x-kubernetes-map-type'
const keysName = 'x-kubernetes-list-map-keys'

function validateListRules(schema: JsonSchema, path: string): readonly FieldError[] {
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
  expected: { readonly type: string; readonly keyword: string },
): readonly FieldError[] {
  if (type === expected.type) return []
  const problem = `must be ${expected.type} if ${expected.keyword} is specified`
  return [type === '' ? required(`${path}.type`, problem) : invalid(`${path}.type`, type, problem)]
}

function keysWithoutMap(listType: string | undefined, path: string): FieldError {
  const problem = `must be map if ${keysName} is non-empty`
  return listType === undefined ? required(`${path}.${listTypeName}`, problem) : invalid(`${path}.${listTypeName}`, listType, problem)
}

/** Set items must be atomic, because they are compared whole. */
function validateSetItems(items: JsonSchema | undefined, path: string): readonly FieldError[] {
  const notAtomic = (name: string, value: unknown): readonly FieldError[] => [
    invalid(`${path}.items.${name}`, value, `must be atomic as item of a list with ${listTypeName}=set`),
  ]
  const listType = items?.[listTypeName]
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') return notAtomic(listTypeName, listType)
  return items?.type === 'object' && items[mapTypeName] !== 'atomic' ? notAtomic(mapTypeName, listType) : []
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
  const keyError = (problem: string): FieldError => invalid(`${path}.${keysName}`, keys, problem)
  return keys.flatMap((key, i) => {
    const property = items.properties?.[key]
    const errors: FieldError[] = []
    if (property === undefined) errors.push(keyError('entries must all be names of item properties'))
    else if (property.type === 'array' || property.type === 'object') {
      const problem = `must be a scalar type if parent array's ${listTypeName} is map`
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, problem))
    }
    if (keys.indexOf(key) < i) errors.push(keyError('must not contain duplicate entries'))
    return errors
  })
}

interface MergedList {
  readonly listType: string
  readonly keys: readonly string[]
}

/** Map keys of items must be required or have defaults. */
function validateMergedItems(schema: JsonSchema, { listType, keys }: MergedList, path: string): readonly FieldError[] {
  const items = itemSchema(schema)
  if (items === undefined) return []
  const keyErrors = (listType === 'map' ? keys : []).flatMap((key) => {
    const property = items.properties?.[key]
    if (property === undefined) return []
    const at = `${path}.items.properties[${key}]`
    const isRequiredOrDefaulted = defaultOf(property) !== undefined || (items.required ?? []).includes(key)
    return [
      ...(isRequiredOrDefaulted
        ? []
        : [required(`${at}.default`, `this property is in ${keysName}, so it must have a default or be a required property`)]),
      ...(property.nullable === true ? [forbidden(`${at}.nullable`, `this property is in ${keysName}, so it cannot be nullable`)] : []),
    ]
  })
  const itemErrors =
    items.nullable === true ? [forbidden(`${path}.items.nullable`, `cannot be nullable when ${listTypeName} is ${listType}`)] : []
  return [...itemErrors, ...keyErrors]
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

interface SchemaContext {
  readonly path: string
  readonly isRoot: boolean
  readonly isInMeta: boolean
  /** Where a default is forbidden, for the error message; undefined if it is allowed. */
  readonly noDefaults: string | undefined
  readonly invalidPaths: Set<string>
}

/** Adds the paths of schemas with errors in or below them to `invalidPaths`. */
export const validateSchemaRules = (schema: JsonSchema, path: string, invalidPaths = new Set<string>()): readonly FieldError[] =>
  validateAt(schema, { path, isRoot: true, isInMeta: false, noDefaults: undefined, invalidPaths })

function validateAt(schema: JsonSchema, context: SchemaContext): readonly FieldError[] {
  const { path } = context
  const errors = [
    ...validateKeywords(schema, context),
    ...(schema.uniqueItems === true
      ? [forbidden(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')]
      : []),
    ...validateAdditional(schema, context),
    ...validateBelow(schema, context),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...validateListRules(schema, path),
    ...validateExpressions(schema['x-kubernetes-validations'], `${path}.x-kubernetes-validations`),
  ]
  if (errors.length > 0) context.invalidPaths.add(path)
  return errors
}

/** properties and additionalProperties are mutually exclusive, unless the latter is true: otherwise pruning would be undefined. */
function validateAdditional(schema: JsonSchema, { path }: SchemaContext): readonly FieldError[] {
  const { additionalProperties: additional, properties } = schema
  if (additional === undefined || additional === true || properties === undefined) return []
  return [forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')]
}

function validateBelow(schema: JsonSchema, context: SchemaContext): readonly FieldError[] {
  const at = (inner: JsonSchema | undefined, name: string, changes: Partial<SchemaContext> = {}): readonly FieldError[] =>
    inner === undefined ? [] : validateAt(inner, { ...context, path: `${context.path}.${name}`, isRoot: false, ...changes })
  const inMeta = context.isInMeta ? { noDefaults: 'inside additionalProperties applying to object metadata' } : {}
  return [
    ...at(additionalSchema(schema), 'additionalProperties', inMeta),
    ...schemasOf(schema.properties).flatMap(([name, inner]) => at(inner, `properties[${name}]`, memberContext(schema, name, context))),
    ...at(schema.not, 'not'),
    ...(['allOf', 'oneOf', 'anyOf'] as const).flatMap((name) => (schema[name] ?? []).flatMap((inner, i) => at(inner, `${name}[${i}]`))),
    ...schemasOf(schema.definitions).flatMap(([name, inner]) => at(inner, `definitions[${name}]`)),
    ...at(itemSchema(schema), 'items'),
    ...itemSchemas(schema).flatMap((inner, i) => at(inner, `items[${i}]`)),
    ...Object.entries(schema.dependencies ?? {}).flatMap(([name, inner]) =>
      Array.isArray(inner) ? [] : at(inner as JsonSchema, `dependencies[${name}]`),
    ),
  ]
}

/** Forbids defaults in apiVersion, kind and metadata at the root. */
function memberContext(schema: JsonSchema, name: string, { isRoot }: SchemaContext): Partial<SchemaContext> {
  if (!isResourceMember(name) || !(isRoot || isEmbedded(schema))) return {}
  return { isInMeta: true, ...(isRoot ? { noDefaults: `in top-level ${name}` } : {}) }
}

function validateKeywords(schema: JsonSchema, { path, isInMeta, noDefaults }: SchemaContext): readonly FieldError[] {
  const { type = '' } = schema
  const errors: FieldError[] = []
  if (type !== '' && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types))
  if (defaultOf(schema) !== undefined && noDefaults !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`))
  for (const name of rejectedKeywords) {
    if (schema[name] !== undefined && schema[name] !== '') errors.push(forbidden(`${path}.${name}`, `${name} is not supported`))
  }
  if (type === 'null') errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  if (itemSchemas(schema).length > 0) errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  if (isInMeta && isEmbedded(schema)) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  return errors
}

const rejectedKeywords = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

/** Error of the first unsupported keyword, reported only if there is no other error. */
export function unsupportedKeyword(schema: JsonSchema): string | undefined {
  const unsupported = unsupportedKeywords.find(({ name }) => schema[name] !== undefined && schema[name] !== '')
  if (unsupported !== undefined) return `OpenAPIV3Schema '${unsupported.reportedName ?? unsupported.name}' is not supported`
  if (itemSchemas(schema).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return "'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  return innerSchemas(schema)
    .map(unsupportedKeyword)
    .find((found) => found !== undefined)
}

const unsupportedKeywords: readonly { readonly name: keyof JsonSchema; readonly reportedName?: string }[] = [
  { name: 'id' },
  { name: '$schema', reportedName: 'schema' },
  { name: '$ref' },
  { name: 'patternProperties' },
  { name: 'dependencies' },
  { name: 'additionalItems' },
  { name: 'definitions' },
]
