// A request body to an object of the kind that the path names: parsed, checked for its type, normalised, with every unknown
// and duplicate member reported.

import { badRequest, invalid } from '../api/api-error.js'
import { invalid as invalidField } from '../api/field-error.js'
import { objectMeta } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { shorten } from '../base/shorten.js'
import { JsonSyntaxError, parseJsonCarefully } from '../schema/json-parse.js'
import type { StructNode } from '../schema/node.js'
import { type PathElement, PathSet, printPath } from '../schema/path.js'
import { isRecord, readValue, SchemaReadError } from '../schema/read.js'
import { inMemberOrder, inPruningOrder } from '../schema/unknown-order.js'
import { readDecimals } from './decimal-numbers.js'
import { type DoubtfulJson, parseJson } from './json.js'

/** The kind that a body is expected to have. */
export interface ExpectedType {
  readonly kind: string
  readonly apiVersion: string
  readonly schema: StructNode
  /** Whether a body may name any group version: options are understood in all of them. */
  readonly anyVersion?: boolean
  /** Further group versions that a body may name, and that are read alike. */
  readonly alsoVersions?: readonly string[]
  /** Of a custom kind the type must be said, and what is wrong with it is told as of any other field. */
  readonly definition?: { readonly custom?: unknown }
}

const isCustom = ({ definition }: ExpectedType): boolean => definition?.custom !== undefined

export interface DecodedObject {
  readonly object: ApiObject
  /** One sentence per unknown or duplicate member, in the order of the document. */
  readonly problems: readonly string[]
  /** The same as a strict request is told, where the format has words of its own. */
  readonly strictProblems?: readonly string[]
}

/** A parsed body before anybody looked at its fields. */
export interface ParsedBody {
  readonly value: unknown
  readonly careful?: DoubtfulJson
  readonly decimals?: boolean
  readonly isPlain?: boolean
  /** Duplicates that the format itself reported. */
  readonly duplicates?: readonly string[]
}

export function decodeJsonObject(bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  return shapeObject(parseJsonBody(bytes, expected), bytes, expected)
}

/** What the numbers of a body are that have a point or an exponent is for the kind to say. */
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

/** From a parsed body to an object of the expected kind. */
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
    const read = readValue(expected.schema, withDecimals(value, body, bytes, expected), body.isPlain)
    const { kind: _kind, apiVersion: _apiVersion, ...object } = read.value as ApiObject
    const problems = problemsOf(body, read.report.unknown, expected)
    const { duplicates = [] } = body
    return duplicates.length === 0
      ? { object, problems }
      : { object, problems, strictProblems: [duplicatesInYaml(duplicates), ...problems.slice(duplicates.length)] }
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw cannotBeHandled(expected, thrown.isSyntax ? thrown.message : `json: ${thrown.message}`)
    throw thrown
  }
}

/** `kind` and `apiVersion` may be left out; what is there must be right. */
export function checkType(value: Record<string, unknown>, bytes: Uint8Array, expected: ExpectedType): void {
  for (const field of ['kind', 'apiVersion'] as const) {
    const sent = value[field]
    if (sent !== undefined && sent !== null && typeof sent !== 'string') {
      throw unrecognized(
        `couldn't get version/kind; json parse error: the field ${field} is ${typeof sent === 'object' ? 'an' : 'a'} ${typeof sent}, not a string`,
        bytes,
        expected,
      )
    }
  }
  if (isCustom(expected)) checkCustomType(value, bytes, expected)
  const kind = (value['kind'] as string | undefined) || expected.kind
  const apiVersion = (expected.anyVersion ? undefined : (value['apiVersion'] as string | undefined)) || expected.apiVersion
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

export const cannotBeHandled = (expected: Pick<ExpectedType, 'kind' | 'apiVersion'>, why: string) =>
  badRequest(
    `${expected.kind} in version "${expected.apiVersion.slice(expected.apiVersion.indexOf('/') + 1)}" cannot be handled as a ${expected.kind}: ${why}`,
  )

export const unrecognized = (why: string, bytes: Uint8Array, expected: Pick<ExpectedType, 'kind'>) =>
  badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summary(bytes)})`)

/** How the reference's YAML reader reports them, all at once. */
export const duplicatesInYaml = (lines: readonly string[]): string => `yaml: unmarshal errors:\n  ${lines.join('\n  ')}`

/** The error that a strict request gets for its unknown and duplicate members. */
export const strictError = (expected: Pick<ExpectedType, 'kind' | 'apiVersion'>, problems: readonly string[]) =>
  cannotBeHandled(expected, `strict decoding error: ${problems.join(', ')}`)

/** The reference tells of so many, and not how many more there are. */
const mostProblems = 100

const summaryBytes = 30

/** The beginning of a body: text when it looks like an object, else in hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>'
  const cut = bytes.subarray(0, summaryBytes)
  const more = bytes.length > summaryBytes ? ' ...' : ''
  if (bytes[0] === 0x7b) return new TextDecoder().decode(cut) + more
  return Array.from(cut, (byte) => byte.toString(16).padStart(2, '0')).join('') + more
}

const unknownField = (path: readonly PathElement[]): string => `unknown field "${printPath(path)}"`
const duplicateField = (path: readonly PathElement[]): string => `duplicate field "${printPath(path)}"`

/**
 * YAML is read as JSON whose members are sorted. A custom object is read before its schema is looked at, so that duplicates are told first,
 * those of unknown members included.
 */
function problemsOf(body: ParsedBody, unknown: readonly (readonly PathElement[])[], expected: ExpectedType): readonly string[] {
  const { careful, duplicates } = body
  if (isCustom(expected)) {
    const before = duplicates ?? [...new Set(careful?.duplicates.map(({ path }) => duplicateField(path)))].slice(0, mostProblems)
    return [...before, ...inPruningOrder(expected.schema, objectMeta, unknown).map(unknownField)]
  }
  if (duplicates !== undefined) return [...duplicates, ...inMemberOrder(unknown).map(unknownField)]
  if (careful === undefined) return unknown.map(unknownField)
  // An unknown member that stands twice is just unknown.
  const known = new PathSet()
  const ends = unknown.map((path) => known.add(path))
  if (ends.length > 0) parseJsonCarefully(careful.text, { wanted: known })
  const placed = [
    ...careful.duplicates.filter(({ path }) => !known.has(path)).map(({ path, place }) => ({ text: duplicateField(path), place })),
    ...ends.map(({ place = 0 }, index) => ({ text: unknownField(unknown[index] ?? []), place })),
  ]
  return [...new Set(placed.sort((a, b) => a.place - b.place).map(({ text }) => text))].slice(0, mostProblems)
}
