// Objects of the API that stand inside of others: they have a kind and metadata, which follow the rules of all metadata.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { type ObjectMeta, objectMeta } from '../../../api/meta.schema.js'
import { pathSegmentProblems } from '../../../api/validation/name-problems.js'
import { validateObjectMeta } from '../../../api/validation/object-meta.js'
import { dns1035Label } from '../../../api/validation/text-rules.js'
import { isRecord, readValue, SchemaReadError } from '../../../schema/read.js'
import { additionalSchema, isEmbedded, isResourceMember, itemSchema, type JsonSchema } from '../json-schema.js'

/** What is wrong with kind and metadata of every embedded object in a value. */
export function validateEmbedded(value: unknown, schema: JsonSchema | undefined, path: string): readonly FieldError[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const items = itemSchema(schema)
    return value.flatMap((item, i) => validateEmbedded(item, items, `${path}[${i}]`))
  }
  if (!isRecord(value)) return []
  const isResource = isEmbedded(schema)
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const inner = Object.entries(value).flatMap(([name, member]) => {
    if (isResource && isResourceMember(name)) return []
    const own = schema.properties?.[name]
    return own === undefined
      ? validateEmbedded(member, additionalSchema(schema), `${path}[${name}]`)
      : validateEmbedded(member, own, below(name))
  })
  return isResource ? [...validateResource(value, path), ...inner] : inner
}

function validateResource(resource: { readonly [name: string]: unknown }, path: string): readonly FieldError[] {
  const { apiVersion, kind, metadata } = resource
  return [
    ...(apiVersion === undefined
      ? [required(`${path}.apiVersion`, 'must not be empty')]
      : checkWord(apiVersion, `${path}.apiVersion`, apiVersionProblem)),
    ...(kind === undefined ? [required(`${path}.kind`, 'must not be empty')] : checkWord(kind, `${path}.kind`, kindProblem)),
    ...(metadata === undefined ? [] : validateMetadata(metadata, `${path}.metadata`)),
  ]
}

function checkWord(value: unknown, field: string, problemOf: (text: string) => string | undefined): readonly FieldError[] {
  if (typeof value !== 'string') return [invalid(field, value, 'must be a string')]
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

/** A template has no name yet: only a name that is there is looked at. */
function validateMetadata(value: unknown, path: string): readonly FieldError[] {
  try {
    const meta = readValue(objectMeta, value).value as ObjectMeta
    const rules = { namespaced: (meta.namespace ?? '') !== '', nameProblems: pathSegmentProblems }
    return validateObjectMeta({ ...meta, name: meta.name ?? 'some-name' }, rules, path)
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) return [invalid(path, value, thrown.message)]
    throw thrown
  }
}
