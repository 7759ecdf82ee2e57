// Reads the paths of one version and their definitions from the OpenAPI v2 document of an extension API server, within limits.

import type { RemoteSpec, SpecPart } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { type Slices, sliceMembers } from '@cluster-apiserver/api/codec/json/json-slices.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'

const readMembers: ReadonlySet<string> = new Set(['paths', 'definitions', 'parameters'])

export const specLimits = {
  bytes: 8 << 20,
  depth: 100,
  partBytes: 512 << 10,
  keptBytes: 4 << 20,
}

export function readSpec({ name, group, version }: Pick<RemoteSpec, 'name' | 'group' | 'version'>, document: Buffer): RemoteSpec {
  const slices = sliceMembers(document, readMembers, specLimits)
  const parts = new SpecParts(slices)
  const parameterOf = (parameter: string): unknown => parts.read('parameters', parameter)
  const prefix = `/apis/${group}/${version}/`
  const paths = new Map<string, Uint8Array>()
  const needed = new Set<string>()
  for (const path of slices.get('paths')?.keys() ?? []) {
    if (path !== prefix.slice(0, -1) && !path.startsWith(prefix)) continue
    const item = cleanPathItem(parts.read('paths', path), parameterOf)
    if (item === undefined) throw new Error(`path ${path} of the OpenAPI document is not an object`)
    paths.set(path, Buffer.from(JSON.stringify(item)))
    for (const each of definitionsIn(item)) needed.add(each)
  }
  const definitions = new Map<string, Uint8Array>()
  for (const each of needed) {
    const definition = cleanDefinition(parts.read('definitions', each))
    definitions.set(each, Buffer.from(JSON.stringify(definition ?? { type: 'object' })))
    for (const other of definitionsIn(definition)) needed.add(other)
  }
  return { name, group, version, paths, definitions }
}

class SpecParts {
  private readonly slices: ReadonlyMap<string, Slices>
  private keptBytes = 0

  constructor(slices: ReadonlyMap<string, Slices>) {
    this.slices = slices
  }

  read(member: string, name: string): unknown {
    const bytes = this.slices.get(member)?.get(name)
    if (bytes === undefined) return undefined
    this.keptBytes += bytes.length
    if (bytes.length > specLimits.partBytes || this.keptBytes > specLimits.keptBytes)
      throw new Error(`the OpenAPI document has more than ${specLimits.keptBytes} bytes, or a part of more than ${specLimits.partBytes}`)
    return JSON.parse(bytes.toString())
  }
}

/** Returns undefined for a value of another type, so that the member is dropped. */
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

const record =
  (fields: () => { readonly [name: string]: Clean }): Clean =>
  (value) => {
    if (!isRecord(value)) return undefined
    const known = fields()
    const cleaned: Record<string, unknown> = {}
    for (const [name, each] of Object.entries(value)) {
      const cleanedValue = name.startsWith('x-') ? each : Object.hasOwn(known, name) ? known[name]?.(each) : undefined
      if (cleanedValue !== undefined) cleaned[name] = cleanedValue
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

const definitionRoot = '#/definitions/'
const parameterRoot = '#/parameters/'

const cleanDefinition = (value: unknown): SpecPart | undefined => schema(value) as SpecPart | undefined

/** `parameterOf`: finds a shared parameter of the document. */
function cleanPathItem(value: unknown, parameterOf: (name: string) => unknown): SpecPart | undefined {
  const cleanParameter = record(() => parameterFields)
  const parameter: Clean = (each) => {
    const ref = isRecord(each) ? each['$ref'] : undefined
    const found = typeof ref === 'string' && ref.startsWith(parameterRoot) ? parameterOf(ref.slice(parameterRoot.length)) : each
    const cleaned = cleanParameter(found) as SpecPart | undefined
    // Keep only named body parameters with a schema, and named path and query parameters.
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

function definitionsIn(part: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (Array.isArray(part)) for (const each of part) definitionsIn(each, found)
  else if (isRecord(part)) {
    for (const [name, each] of Object.entries(part)) {
      if (name === '$ref' && typeof each === 'string' && each.startsWith(definitionRoot)) found.add(each.slice(definitionRoot.length))
      else definitionsIn(each, found)
    }
  }
  return found
}
