// Defaults of schemas: each must itself be a value that its schema accepts, with nothing in it that would be dropped.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { checkDefault } from '../custom/expression-rules.js'
import { defaultOf, isEmbedded, isResourceMember, itemSchema, type JsonSchema, schemasOf } from '../json-schema.js'
import { validateEmbedded } from './embedded-resource.js'
import { pruneValue } from './prune-value.js'
import { validateValue } from './validate-value.js'

/** The resource that a default inside of metadata belongs to, and how it looks with a value at that place. */
interface Surroundings {
  readonly resource: JsonSchema
  readonly isInMeta: boolean
  readonly with: (value: unknown) => unknown
}

export function validateDefaults(schema: JsonSchema, path: string): readonly FieldError[] {
  const root: JsonSchema = { ...schema, 'x-kubernetes-embedded-resource': true }
  return validateAt(root, path, resourceOf(root))
}

const resourceOf = (resource: JsonSchema): Surroundings => ({
  resource,
  isInMeta: false,
  with: (value) => ({ apiVersion: 'validation/v1', kind: 'Validation', ...(value as object) }),
})

function validateAt(schema: JsonSchema, path: string, outer: Surroundings): readonly FieldError[] {
  const around = isEmbedded(schema) ? resourceOf(schema) : outer
  const items = itemSchema(schema)
  return [
    ...(defaultOf(schema) === undefined ? [] : validateDefault(schema, `${path}.default`, around)),
    ...(items === undefined ? [] : validateAt(items, `${path}.items`, { ...around, with: (value) => around.with([value]) })),
    ...schemasOf(schema.properties).flatMap(([name, property]) =>
      validateAt(property, `${path}.properties[${name}]`, {
        ...around,
        isInMeta: around.isInMeta || (isEmbedded(schema) && isResourceMember(name)),
        with: (value) => around.with({ [name]: value }),
      }),
    ),
  ]
}

function validateDefault(schema: JsonSchema, path: string, around: Surroundings): readonly FieldError[] {
  const value = schema.default
  if (around.isInMeta) {
    const [problem] = validateEmbedded(around.with(value), around.resource, '')
    if (problem !== undefined) {
      const text = `${problem.field.replace(/^\./, '')}: ${problem.message}`
      return [invalid(path, value, `must result in valid metadata: ${text}`)]
    }
    return validateValue(schema, value, path)
  }
  const dropped = pruneValue(value, schema) === value ? [] : [invalid(path, value, 'must not have unknown fields')]
  const embedded = validateEmbedded(value, schema, path)
  const errors = [...dropped, ...(embedded.length > 0 ? embedded : validateValue(schema, value, path))]
  return errors.length > 0 ? errors : checkDefault(schema, value, path)
}
