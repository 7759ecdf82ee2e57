// Validates the defaults of a CRD schema: each must be valid and must not contain fields that pruning drops.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { checkDefault } from '../custom-resource/cel-validation-rules.js'
import {
  additionalSchema,
  defaultOf,
  isEmbedded,
  isResourceMember,
  itemSchema,
  type JsonSchema,
  keepsUnknown,
  pruningItemSchema,
  schemasOf,
} from '../schema/json-schema.js'
import { uncoercible, validateEmbedded } from './embedded-resource.js'
import { validateValue } from './validate-value.js'

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

export function pruneValue(value: unknown, schema: JsonSchema | undefined): unknown {
  if (Array.isArray(value)) return pruneItems(value, schema === undefined ? undefined : pruningItemSchema(schema))
  return isMembers(value) ? pruneMembers(value, schema) : value
}

function pruneItems(items: readonly unknown[], schema: JsonSchema | undefined): readonly unknown[] {
  const kept = items.map((item) => pruneValue(item, schema))
  return kept.every((item, i) => item === items[i]) ? items : kept
}

function pruneMembers(value: Members, schema: JsonSchema = {}): Members {
  const kept: [string, unknown][] = []
  let isSame = true
  for (const [name, member] of Object.entries(value)) {
    const rule = memberRule(schema, name)
    const next = rule.schema === 'any' ? member : pruneValue(member, rule.schema)
    if (rule.isKept) kept.push([name, next])
    isSame &&= rule.isKept && next === member
  }
  return isSame ? value : Object.fromEntries(kept)
}

interface MemberRule {
  readonly isKept: boolean
  readonly schema: JsonSchema | undefined | 'any'
}

function memberRule(schema: JsonSchema, name: string): MemberRule {
  if (isEmbedded(schema) && isResourceMember(name)) return { isKept: true, schema: 'any' }
  const property = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  if (property !== undefined) return { isKept: true, schema: property }
  if (schema.additionalProperties !== undefined) return { isKept: true, schema: additionalSchema(schema) }
  return { isKept: keepsUnknown(schema), schema: 'any' }
}

interface EnclosingResource {
  readonly resource: JsonSchema
  readonly isInMeta: boolean
  /** Returns the enclosing resource with the value in its place. */
  readonly with: (value: unknown) => unknown
}

export function validateDefaults(schema: JsonSchema, path: string): readonly FieldError[] {
  const root: JsonSchema = { ...schema, 'x-kubernetes-embedded-resource': true }
  return validateAt(root, path, resourceOf(root))
}

const resourceOf = (resource: JsonSchema): EnclosingResource => ({
  resource,
  isInMeta: false,
  with: (value) => ({ apiVersion: 'validation/v1', kind: 'Validation', ...(value as object) }),
})

function validateAt(schema: JsonSchema, path: string, outer: EnclosingResource): readonly FieldError[] {
  const enclosing = isEmbedded(schema) ? resourceOf(schema) : outer
  const items = itemSchema(schema)
  return [
    ...(defaultOf(schema) === undefined ? [] : validateDefault(schema, `${path}.default`, enclosing)),
    ...(items === undefined ? [] : validateAt(items, `${path}.items`, { ...enclosing, with: (value) => enclosing.with([value]) })),
    ...schemasOf(schema.properties).flatMap(([name, property]) =>
      validateAt(property, `${path}.properties[${name}]`, {
        ...enclosing,
        isInMeta: enclosing.isInMeta || (isEmbedded(schema) && isResourceMember(name)),
        with: (value) => enclosing.with({ [name]: value }),
      }),
    ),
  ]
}

function validateDefault(schema: JsonSchema, path: string, enclosing: EnclosingResource): readonly FieldError[] {
  const value = schema.default
  if (enclosing.isInMeta) {
    const [problem] = validateEmbedded(enclosing.with(value), enclosing.resource, '')
    if (problem !== undefined) {
      const text = `${problem.field.replace(/^\./, '')}: ${problem.message}`
      return [invalid(path, value, `must result in valid metadata: ${text}`)]
    }
    return validateValue(schema, value, path)
  }
  const pruningErrors = pruneValue(value, schema) === value ? [] : [invalid(path, value, 'must not have unknown fields')]
  const problem = uncoercible(value, schema, path)
  const embedded = problem === undefined ? validateEmbedded(value, schema, path) : [problem]
  const errors = [...pruningErrors, ...(embedded.length > 0 ? embedded : validateValue(schema, value, path))]
  return errors.length > 0 ? errors : checkDefault(schema, value, path)
}
