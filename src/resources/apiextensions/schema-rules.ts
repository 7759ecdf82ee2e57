// What a schema may say, keyword by keyword and level by level, whether or not it is structural.

import { type FieldError, forbidden, invalid, notSupported } from '../../api/field-error.js'
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
import { validateListRules } from './list-rules.js'
import { validateExpressions } from './schema-expressions.js'
import { innerSchemas } from './schema-search.js'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Where a schema stands, as far as that decides what it may say. */
interface Place {
  readonly path: string
  readonly isRoot: boolean
  /** Inside of apiVersion, kind or metadata of a resource. */
  readonly isInMeta: boolean
  /** Why there may be no default; undefined where there may. */
  readonly noDefaults: string | undefined
  readonly faulty: Set<string>
}

/** `faulty` is told the paths of the schemas in which, or below which, something is wrong. */
export const validateSchemaRules = (schema: JsonSchema, path: string, faulty = new Set<string>()): readonly FieldError[] =>
  validateAt(schema, { path, isRoot: true, isInMeta: false, noDefaults: undefined, faulty })

function validateAt(schema: JsonSchema, place: Place): readonly FieldError[] {
  const { path } = place
  const errors = [
    ...validateKeywords(schema, place),
    ...(schema.uniqueItems === true
      ? [forbidden(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic')]
      : []),
    ...validateAdditional(schema, place),
    ...validateBelow(schema, place),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...validateListRules(schema, path),
    ...validateExpressions(schema['x-kubernetes-validations'], `${path}.x-kubernetes-validations`),
  ]
  if (errors.length > 0) place.faulty.add(path)
  return errors
}

/** Members by name and members of any name exclude each other: unknown members are dropped, so that they cannot be both. */
function validateAdditional(schema: JsonSchema, { path }: Place): readonly FieldError[] {
  const { additionalProperties: additional, properties } = schema
  if (additional === undefined || additional === true || properties === undefined) return []
  return [forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')]
}

/** The schemas inside of a schema, in the order of the reports. */
function validateBelow(schema: JsonSchema, place: Place): readonly FieldError[] {
  const at = (inner: JsonSchema | undefined, name: string, changes: Partial<Place> = {}): readonly FieldError[] =>
    inner === undefined ? [] : validateAt(inner, { ...place, path: `${place.path}.${name}`, isRoot: false, ...changes })
  const inMeta = place.isInMeta ? { noDefaults: 'inside additionalProperties applying to object metadata' } : {}
  return [
    ...at(additionalSchema(schema), 'additionalProperties', inMeta),
    ...schemasOf(schema.properties).flatMap(([name, inner]) => at(inner, `properties[${name}]`, memberPlace(schema, name, place))),
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

/** The server writes the metadata of the object itself, so that no default could ever come into it. */
function memberPlace(schema: JsonSchema, name: string, { isRoot }: Place): Partial<Place> {
  if (!isResourceMember(name) || !(isRoot || isEmbedded(schema))) return {}
  return { isInMeta: true, ...(isRoot ? { noDefaults: `in top-level ${name}` } : {}) }
}

function validateKeywords(schema: JsonSchema, { path, isInMeta, noDefaults }: Place): readonly FieldError[] {
  const { type = '' } = schema
  const errors: FieldError[] = []
  if (type !== '' && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types))
  if (defaultOf(schema) !== undefined && noDefaults !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`))
  for (const name of refused) {
    if (schema[name] !== undefined && schema[name] !== '') errors.push(forbidden(`${path}.${name}`, `${name} is not supported`))
  }
  if (type === 'null') errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  if (itemSchemas(schema).length > 0) errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  if (isInMeta && isEmbedded(schema)) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  return errors
}

const refused = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

/** Keywords that no structural schema can be made of, each told only where nothing else is wrong. */
export function unsupportedKeyword(schema: JsonSchema): string | undefined {
  const own = unusable.find(({ name }) => schema[name] !== undefined && schema[name] !== '')
  if (own !== undefined) return `OpenAPIV3Schema '${own.shown ?? own.name}' is not supported`
  if (itemSchemas(schema).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return "'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  return innerSchemas(schema)
    .map(unsupportedKeyword)
    .find((found) => found !== undefined)
}

const unusable: readonly { readonly name: keyof JsonSchema; readonly shown?: string }[] = [
  { name: 'id' },
  { name: '$schema', shown: 'schema' },
  { name: '$ref' },
  { name: 'patternProperties' },
  { name: 'dependencies' },
  { name: 'additionalItems' },
  { name: 'definitions' },
]
