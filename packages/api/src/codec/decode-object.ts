// Decodes a request body (JSON, YAML, Protobuf) to an object of the expected kind. Reports unknown and duplicate fields.

import { badRequest, invalid } from '../api/api-error.js'
import { invalid as invalidField } from '../api/field-error.js'
import { objectMeta } from '../api/meta.schema.js'
import { type ApiObject, findType } from '../api/object.js'
import { ProtobufReadError } from '../base/protobuf/protobuf-reader.js'
import { shorten } from '../base/shorten.js'
import { JsonSyntaxError, parseJsonCarefully } from '../schema/json/parse-json.js'
import { inMemberOrder, inPruningOrder } from '../schema/json/pruning.js'
import { isRecord, readValue, SchemaReadError } from '../schema/json/read.js'
import type { StructNode } from '../schema/node.js'
import { type PathElement, PathSet, printPath } from '../schema/path.js'
import type { Format } from './content-negotiation.js'
import { readDecimals } from './json/decimal-numbers.js'
import { type JsonWithDuplicates, parseJson } from './json/json.js'
import { decodeProtobuf, readEnvelope } from './protobuf-envelope.js'
import { readYaml, type YamlDocument } from './yaml/read-yaml.js'
import { YamlError } from './yaml/yaml-error.js'

export interface ExpectedType {
  readonly kind: string
  readonly apiVersion: string
  readonly schema: StructNode
  readonly anyVersion?: boolean
  readonly alsoVersions?: readonly string[]
  readonly definition?: { readonly custom?: unknown }
}

const isCustom = ({ definition }: ExpectedType): boolean => definition?.custom !== undefined

export interface DecodedObject {
  readonly object: ApiObject
  readonly problems: readonly string[]
  /** Messages of strict field validation, set if they differ from `problems`, as for YAML. */
  readonly strictProblems?: readonly string[]
}

interface ParsedBody {
  readonly value: unknown
  /** Result of the slow parser; set if there are duplicate members. */
  readonly careful?: JsonWithDuplicates
  /** True if a number has a point or an exponent. */
  readonly decimals?: boolean
  readonly isEscapeFree?: boolean
  /** Messages about duplicate keys; set for YAML only. */
  readonly duplicates?: readonly string[]
}

export function decodeJsonObject(bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  return shapeObject(parseJsonBody(bytes, expected), bytes, expected)
}

/** Parses again if there are numbers with a point or an exponent: the schema decides their type. */
const withDecimals = (value: unknown, { decimals }: ParsedBody, bytes: Uint8Array, expected: ExpectedType): unknown =>
  decimals && !isCustom(expected) ? readDecimals(new TextDecoder().decode(bytes), expected.schema) : value

function parseJsonBody(bytes: Uint8Array, expected: ExpectedType): ParsedBody {
  try {
    return parseJson(bytes)
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError)
      throw unrecognized(`couldn't get version/kind; json parse error: ${thrown.message}`, bytes, expected)
    throw thrown
  }
}

export function shapeObject(body: ParsedBody, bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  const value = body.value === null || body.value === undefined ? {} : body.value
  if (!isRecord(value))
    throw unrecognized(
      `couldn't get version/kind; json parse error: an object is expected, not ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}`,
      bytes,
      expected,
    )
  checkType(value, bytes, expected)
  try {
    const decoded = readValue(expected.schema, withDecimals(value, body, bytes, expected), { isEscapeFree: body.isEscapeFree })
    const { kind: _kind, apiVersion: _apiVersion, ...object } = decoded.value as ApiObject
    const problems = problemsOf(body, decoded.report.unknown, expected)
    const { duplicates = [] } = body
    return duplicates.length === 0
      ? { object, problems }
      : { object, problems, strictProblems: [yamlDuplicatesError(duplicates), ...problems.slice(duplicates.length)] }
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw cannotBeHandled(expected, thrown.isSyntax ? thrown.message : `json: ${thrown.message}`)
    throw thrown
  }
}

function checkType(value: Record<string, unknown>, bytes: Uint8Array, expected: ExpectedType): void {
  const typeMeta = isCustom(expected) ? value : findType(value)
  for (const field of ['kind', 'apiVersion'] as const) {
    const fieldValue = typeMeta[field]
    if (fieldValue !== undefined && fieldValue !== null && typeof fieldValue !== 'string') {
      throw unrecognized(
        `couldn't get version/kind; json parse error: the field ${field} is ${typeof fieldValue === 'object' ? 'an' : 'a'} ${typeof fieldValue}, not a string`,
        bytes,
        expected,
      )
    }
  }
  if (isCustom(expected)) checkCustomType(value, bytes, expected)
  const kind = (typeMeta['kind'] as string | undefined) || expected.kind
  const apiVersion = (expected.anyVersion ? undefined : (typeMeta['apiVersion'] as string | undefined)) || expected.apiVersion
  if (kind === expected.kind && (apiVersion === expected.apiVersion || expected.alsoVersions?.includes(apiVersion))) return
  const version = shorten(apiVersion.slice(apiVersion.indexOf('/') + 1))
  if (kind === expected.kind) throw otherVersion(apiVersion, expected)
  throw badRequest(
    `${shorten(kind)} in version "${version}" cannot be handled as a ${expected.kind}: the kind in the data (${shorten(kind)}) does not match the expected kind`,
  )
}

const otherVersion = (apiVersion: string, expected: ExpectedType) =>
  badRequest(`the API version in the data (${shorten(apiVersion)}) does not match the expected API version (${expected.apiVersion})`)

function checkCustomType(value: Record<string, unknown>, bytes: Uint8Array, expected: ExpectedType): void {
  const { kind, apiVersion } = value
  const text = shorten(new TextDecoder().decode(bytes.subarray(0, 1024)))
  if (!kind) throw unrecognized(`Object 'Kind' is missing in '${text}'`, bytes, expected)
  if (!apiVersion) throw unrecognized(`Object 'apiVersion' is missing in '${text}'`, bytes, expected)
  if (apiVersion !== expected.apiVersion) throw otherVersion(apiVersion as string, expected)
  if (kind === expected.kind) return
  const { name } = isRecord(value['metadata']) ? value['metadata'] : {}
  const group = expected.apiVersion.slice(0, expected.apiVersion.indexOf('/'))
  throw invalid({ group, kind: shorten(kind as string) }, typeof name === 'string' ? name : '', [
    invalidField('kind', kind, `must be ${expected.kind}`),
  ])
}

export const cannotBeHandled = (expected: Pick<ExpectedType, 'kind' | 'apiVersion'>, reason: string) =>
  badRequest(
    `${expected.kind} in version "${expected.apiVersion.slice(expected.apiVersion.indexOf('/') + 1)}" cannot be handled as a ${expected.kind}: ${reason}`,
  )

const unrecognized = (reason: string, bytes: Uint8Array, expected: Pick<ExpectedType, 'kind'>) =>
  badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${reason} (${summary(bytes)})`)

export const yamlDuplicatesError = (lines: readonly string[]): string => `yaml: unmarshal errors:\n  ${lines.join('\n  ')}`

export const strictError = (expected: Pick<ExpectedType, 'kind' | 'apiVersion'>, problems: readonly string[]) =>
  cannotBeHandled(expected, `strict decoding error: ${problems.join(', ')}`)

/** Maximum reported fields, like in kube-apiserver. */
const maxProblems = 100

const summaryBytes = 30

/** Text if the body starts with `{`, else hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const start = bytes.subarray(0, summaryBytes)
  const ellipsis = bytes.length > summaryBytes ? ' ...' : ''
  if (bytes[0] === 0x7b) return new TextDecoder().decode(start) + ellipsis
  return Array.from(start, (byte) => byte.toString(16).padStart(2, '0')).join('') + ellipsis
}

const unknownField = (path: readonly PathElement[]): string => `unknown field "${printPath(path)}"`
const duplicateField = (path: readonly PathElement[]): string => `duplicate field "${printPath(path)}"`

/**
 * JSON of built-in kinds: in the order of the body, without duplicates of or in unknown fields.
 * YAML and custom resources: all duplicates first, then the unknown fields, sorted.
 */
function problemsOf(body: ParsedBody, unknown: readonly (readonly PathElement[])[], expected: ExpectedType): readonly string[] {
  const { careful, duplicates } = body
  if (isCustom(expected)) {
    const duplicateProblems = duplicates ?? [...new Set(careful?.duplicates.map(({ path }) => duplicateField(path)))].slice(0, maxProblems)
    return [...duplicateProblems, ...inPruningOrder(expected.schema, objectMeta, unknown).map(unknownField)]
  }
  if (duplicates !== undefined) return [...duplicates, ...inMemberOrder(unknown).map(unknownField)]
  if (careful === undefined) return unknown.map(unknownField)
  const unknownPaths = new PathSet()
  const unknownEnds = unknown.map((path) => unknownPaths.add(path))
  if (unknownEnds.length > 0) parseJsonCarefully(careful.text, { wanted: unknownPaths })
  const located = [
    ...careful.duplicates
      .filter(({ path }) => !unknownPaths.hasAncestor(path))
      .map(({ path, offset }) => ({ text: duplicateField(path), offset })),
    ...unknownEnds.map(({ offset = 0 }, index) => ({ text: unknownField(unknown[index] ?? []), offset })),
  ]
  return [...new Set(located.sort((a, b) => a.offset - b.offset).map(({ text }) => text))].slice(0, maxProblems)
}

export function decodeBody(format: Format, bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  switch (format) {
    case 'json':
      return decodeJsonObject(bytes, expected)
    case 'yaml':
      return shapeObject(parseYamlBody(bytes, expected), bytes, expected)
    case 'protobuf':
      return decodeProtobufObject(bytes, expected)
  }
}

function parseYamlBody(bytes: Uint8Array, expected: ExpectedType): YamlDocument {
  try {
    return readYaml(new TextDecoder().decode(bytes))
  } catch (thrown) {
    if (thrown instanceof YamlError) throw unrecognized(thrown.message, bytes, expected)
    throw thrown
  }
}

/** Ignores unknown Protobuf fields. */
export function decodeProtobufObject(bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  const { apiVersion, kind, raw } = rethrowReadError(
    () => readEnvelope(bytes),
    (reason) => unrecognized(reason, bytes, expected),
  )
  checkType({ apiVersion, kind }, bytes, expected)
  const object = rethrowReadError(
    () => decodeProtobuf(expected.schema, raw),
    (reason) => cannotBeHandled(expected, reason),
  )
  return { object, problems: [] }
}

function rethrowReadError<T>(read: () => T, toApiError: (reason: string) => Error): T {
  try {
    return read()
  } catch (thrown) {
    throw thrown instanceof ProtobufReadError ? toApiError(thrown.message) : thrown
  }
}
