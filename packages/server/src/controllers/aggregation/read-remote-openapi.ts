// Parts of OpenAPI documents of somebody else's making: of what they say, that is kept which such a document may say, in the form that it may
// have. What is left can be put into any document of ours, whatever it was before.

import type { SpecPart } from '../../api/remote-openapi.js'
import { isRecord } from '../../schema/read.js'

type Clean = (value: unknown) => unknown

const text: Clean = (value) => (typeof value === 'string' ? value : undefined)
const flag: Clean = (value) => (typeof value === 'boolean' ? value : undefined)
const number: Clean = (value) => (typeof value === 'number' ? value : undefined)
const integer: Clean = (value) => (Number.isSafeInteger(value) ? value : undefined)
const anything: Clean = (value) => value
const texts: Clean = (value) => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined)
const values: Clean = (value) => (Array.isArray(value) ? value : undefined)

const listOf =
  (clean: Clean): Clean =>
  (value) =>
    Array.isArray(value) ? value.map(clean).filter((each) => each !== undefined) : undefined

const mapOf =
  (clean: Clean): Clean =>
  (value) => {
    if (!isRecord(value)) return undefined
    const entries = Object.entries(value).map(([name, each]) => [name, clean(each)] as const)
    return Object.fromEntries(entries.filter(([, each]) => each !== undefined))
  }

/** Only members that are known, and extensions. */
const record =
  (fields: () => { readonly [name: string]: Clean }): Clean =>
  (value) => {
    if (!isRecord(value)) return undefined
    const known = fields()
    const cleaned: Record<string, unknown> = {}
    for (const [name, each] of Object.entries(value)) {
      const made = name.startsWith('x-') ? each : Object.hasOwn(known, name) ? known[name]?.(each) : undefined
      if (made !== undefined) cleaned[name] = made
    }
    return cleaned
  }

const reference: Clean = (value) => (typeof value === 'string' && value.startsWith(definitionRoot) ? value : undefined)

const type: Clean = (value) => (Array.isArray(value) ? text(value[0]) : text(value))

const schemaFields = {
  $ref: reference,
  format: text,
  title: text,
  description: text,
  default: anything,
  multipleOf: number,
  maximum: number,
  exclusiveMaximum: flag,
  minimum: number,
  exclusiveMinimum: flag,
  maxLength: integer,
  minLength: integer,
  pattern: text,
  maxItems: integer,
  minItems: integer,
  uniqueItems: flag,
  maxProperties: integer,
  minProperties: integer,
  required: texts,
  enum: values,
  additionalProperties: (value: unknown) => flag(value) ?? schema(value),
  type,
  items: (value: unknown) => schema(value),
  allOf: listOf((value) => schema(value)),
  properties: mapOf((value) => schema(value)),
  example: anything,
}

const schema: Clean = record(() => schemaFields)

const parameterFields = { name: text, in: text, description: text, required: flag, type, uniqueItems: flag, schema }
const operationFields = {
  tags: texts,
  description: text,
  operationId: text,
  produces: texts,
  consumes: texts,
  schemes: texts,
  deprecated: flag,
  responses: mapOf(record(() => ({ description: text, schema }))),
}

export const definitionRoot = '#/definitions/'
const parameterRoot = '#/parameters/'

export const cleanDefinition = (value: unknown): SpecPart | undefined => schema(value) as SpecPart | undefined

/** `parameterOf`: one that the document keeps for all, by its name. */
export function cleanPathItem(value: unknown, parameterOf: (name: string) => unknown): SpecPart | undefined {
  const plain = record(() => parameterFields)
  const parameter: Clean = (each) => {
    const ref = isRecord(each) ? each['$ref'] : undefined
    const found = typeof ref === 'string' && ref.startsWith(parameterRoot) ? parameterOf(ref.slice(parameterRoot.length)) : each
    const cleaned = plain(found) as SpecPart | undefined
    // One without a name or a place is none, and of those in the body there is the schema alone.
    if (cleaned?.['name'] === undefined || cleaned['in'] === undefined) return undefined
    if (cleaned['in'] === 'body') return cleaned['schema'] === undefined ? undefined : cleaned
    const { schema: _schema, ...rest } = cleaned
    return cleaned['in'] === 'path' || cleaned['in'] === 'query' ? rest : undefined
  }
  const parameters = listOf(parameter)
  const operation = record(() => ({ ...operationFields, parameters }))
  const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'].map((name) => [name, operation] as const)
  return record(() => ({ ...Object.fromEntries(methods), parameters }))(value) as SpecPart | undefined
}

/** The names of the definitions that a part speaks of. */
export function definitionsIn(part: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (Array.isArray(part)) for (const each of part) definitionsIn(each, found)
  else if (isRecord(part)) {
    for (const [name, each] of Object.entries(part)) {
      if (name === '$ref' && typeof each === 'string' && each.startsWith(definitionRoot)) found.add(each.slice(definitionRoot.length))
      else definitionsIn(each, found)
    }
  }
  return found
}
