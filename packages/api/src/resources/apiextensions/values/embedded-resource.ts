// Validates embedded resources (x-kubernetes-embedded-resource): apiVersion, kind and metadata.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { type ObjectMeta, objectMeta } from '../../../api/meta.schema.js'
import { pathSegmentProblems } from '../../../api/validation/checks.js'
import { validateObjectMeta } from '../../../api/validation/metadata/object-meta.js'
import { dns1035Label } from '../../../api/validation/name-formats.js'
import { isRecord, readValue, SchemaReadError } from '../../../schema/json/read.js'
import { additionalSchema, isEmbedded, isResourceMember, itemSchema, type JsonSchema } from '../schema/json-schema.js'

type ResourceCheck = (resource: { readonly [name: string]: unknown }, path: string) => readonly FieldError[]

export const validateEmbedded = (value: unknown, schema: JsonSchema | undefined, path: string): readonly FieldError[] =>
  checkEmbedded(value, schema, path, validateResource)

/** Returns the first apiVersion or kind that is not a string, or metadata that cannot be decoded. */
export const uncoercible = (value: unknown, schema: JsonSchema, path: string): FieldError | undefined =>
  checkEmbedded(value, schema, path, coercionErrors)[0]

function checkEmbedded(value: unknown, schema: JsonSchema | undefined, path: string, check: ResourceCheck): readonly FieldError[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const items = itemSchema(schema)
    return value.flatMap((item, i) => checkEmbedded(item, items, `${path}[${i}]`, check))
  }
  if (!isRecord(value)) return []
  const isResource = isEmbedded(schema)
  const memberPath = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const inner = Object.entries(value).flatMap(([name, member]) => {
    if (isResource && isResourceMember(name)) return []
    const property = schema.properties?.[name]
    return property === undefined
      ? checkEmbedded(member, additionalSchema(schema), `${path}[${name}]`, check)
      : checkEmbedded(member, property, memberPath(name), check)
  })
  return isResource ? [...check(value, path), ...inner] : inner
}

const coercionErrors: ResourceCheck = (resource, path) =>
  ['apiVersion', 'kind', 'metadata'].flatMap((name) => {
    const value = resource[name]
    if (value === undefined) return []
    const field = `${path}.${name}`
    if (name === 'metadata') return readMetadata(value, field).errors
    return typeof value === 'string' ? [] : [notText(field, value)]
  })

const notText = (field: string, value: unknown): FieldError => invalid(field, value, 'must be a string')

function validateResource(resource: { readonly [name: string]: unknown }, path: string): readonly FieldError[] {
  const { apiVersion, kind, metadata } = resource
  return [
    ...(apiVersion === undefined
      ? [required(`${path}.apiVersion`, 'must not be empty')]
      : checkTypeMetaField(apiVersion, `${path}.apiVersion`, apiVersionProblem)),
    ...(kind === undefined ? [required(`${path}.kind`, 'must not be empty')] : checkTypeMetaField(kind, `${path}.kind`, kindProblem)),
    ...(metadata === undefined ? [] : validateMetadata(metadata, `${path}.metadata`)),
  ]
}

function checkTypeMetaField(value: unknown, field: string, problemOf: (text: string) => string | undefined): readonly FieldError[] {
  if (typeof value !== 'string') return [notText(field, value)]
  if (value === '') return [invalid(field, value, 'must not be empty')]
  const problem = problemOf(value)
  return problem === undefined ? [] : [invalid(field, value, problem)]
}

const apiVersionProblem = (text: string): string | undefined =>
  text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined

function kindProblem(text: string): string | undefined {
  const problems = dns1035Label(text.toLowerCase())
  return problems.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${problems.join(',')}`
}

function validateMetadata(value: unknown, path: string): readonly FieldError[] {
  const { meta, errors } = readMetadata(value, path)
  if (meta === undefined) return errors
  const rules = { namespaced: (meta.namespace ?? '') !== '', nameProblems: pathSegmentProblems }
  return validateObjectMeta({ ...meta, name: meta.name ?? 'some-name' }, rules, path)
}

function readMetadata(value: unknown, path: string): { readonly meta?: ObjectMeta; readonly errors: readonly FieldError[] } {
  try {
    return { meta: readValue(objectMeta, value).value as ObjectMeta, errors: [] }
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return { errors: [invalid(path, value, thrown.message)] }
    throw thrown
  }
}
