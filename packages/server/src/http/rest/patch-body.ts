// The body of a PATCH: its patch type by content type, and the decoded patch.

import { badRequest } from '@cluster-apiserver/api/api/api-error.js'
import { negotiatePatch } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { yamlDuplicatesError } from '@cluster-apiserver/api/codec/decode-object.js'
import { readDecimals, readDecimalsInOperations } from '@cluster-apiserver/api/codec/json/decimal-numbers.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { YamlError } from '@cluster-apiserver/api/codec/yaml/yaml-error.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { printPath } from '@cluster-apiserver/api/schema/path.js'
import type { PatchRequest } from '../../verbs/read-patched.js'
import type { PatchType } from '../../verbs/worker-steps.js'

const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const satisfies { readonly [mediaType: string]: PatchType }

const mediaTypes = Object.keys(patchTypes) as (keyof typeof patchTypes)[]
/** Strategic merge patches are not supported for custom resources. */
const customMediaTypes = mediaTypes.filter((type) => patchTypes[type] !== 'strategic')

export const patchTypeOf = (
  headers: {
    readonly 'content-type'?: string | undefined
    readonly 'content-length'?: string | undefined
  },
  isCustom = false,
): PatchType => {
  const types = isCustom ? customMediaTypes : mediaTypes
  return patchTypes[negotiatePatch(headers['content-type'], { types, routed: !isCustom, length: headers['content-length'] })]
}

type PatchBody = Pick<PatchRequest, 'patch' | 'duplicates' | 'strictError' | 'byKind'>

export function readPatch(type: PatchType, bytes: Uint8Array): PatchBody {
  const read = type === 'apply' ? readConfiguration(bytes) : readJsonPatch(type, bytes)
  // null is an empty patch, except for a merge patch, where it would replace the object.
  const body = read.patch === null && type !== 'merge' ? { ...read, patch: type === 'json' ? [] : {} } : read
  if (type === 'json' ? Array.isArray(body.patch) : isRecord(body.patch)) return body
  if (type === 'apply') throw badRequest('error decoding YAML: the applied configuration must be an object')
  if (body.patch === null && type === 'merge') throw badRequest('Invalid JSON Patch')
  throw badRequest(`error decoding patch: ${type === 'json' ? 'a list of operations' : 'an object'} is expected`)
}

function readJsonPatch(type: PatchType, bytes: Uint8Array): PatchBody {
  try {
    const { value, careful, decimals } = parseJson(bytes)
    const duplicates = (careful?.duplicates ?? []).map(({ path }) => `duplicate field "${printPath(path)}"`)
    if (type === 'merge' && decimals)
      return { patch: value, duplicates, byKind: (schema) => readDecimals(new TextDecoder().decode(bytes), schema) }
    if (type !== 'json' || !Array.isArray(value)) return { patch: value, duplicates }
    const patch = withLiteralTests(value, bytes)
    const byKind: PatchBody['byKind'] = (schema) => {
      const text = new TextDecoder().decode(bytes)
      return withLiteralTests(readDecimalsInOperations(text, value, schema) as readonly unknown[], bytes)
    }
    return { patch, duplicates: [...duplicates, ...unknownInOperations(value)], ...(decimals ? { byKind } : {}) }
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError)
      throw badRequest(type === 'strategic' ? thrown.message : `error decoding patch: ${thrown.message}`)
    throw thrown
  }
}

/** Maximum number of reported unknown fields, as in kube-apiserver. */
const maxUnknownFields = 100
const operationFields = new Set(['op', 'path', 'from', 'value'])

function unknownInOperations(operations: unknown): readonly string[] {
  if (!Array.isArray(operations)) return []
  const unknown: string[] = []
  for (const [i, operation] of operations.entries()) {
    if (!isRecord(operation)) continue
    for (const key in operation) if (!operationFields.has(key)) unknown.push(`unknown field "${printPath([i, key])}"`)
    if (unknown.length >= maxUnknownFields) break
  }
  return unknown.slice(0, maxUnknownFields)
}

/** True if the body begins like a JSON object: JSON parses faster than YAML. */
export const isJson = (bytes: Uint8Array): boolean => bytes[0] === 0x7b

function readConfiguration(bytes: Uint8Array): PatchBody {
  if (isJson(bytes)) {
    try {
      const { value, careful } = parseJson(bytes)
      if (careful === undefined) return { patch: value, duplicates: [] }
    } catch (thrown) {
      // A body that begins like a JSON object may still be YAML.
      if (!(thrown instanceof JsonSyntaxError)) throw thrown
    }
  }
  try {
    const { value, duplicates } = readYaml(new TextDecoder().decode(bytes))
    if (duplicates.length === 0) return { patch: value ?? {}, duplicates }
    return {
      patch: value,
      duplicates,
      strictError: `error strict decoding YAML: error converting YAML to JSON: ${yamlDuplicatesError(duplicates)}`,
    }
  } catch (thrown) {
    if (thrown instanceof YamlError) throw badRequest(`error decoding YAML: error converting YAML to JSON: ${thrown.message}`)
    throw thrown
  }
}

/** kube-apiserver compares numbers of `test` operations by their literals: literals that this server would not write must fail. */
export function withLiteralTests(operations: readonly unknown[], bytes: Uint8Array): readonly unknown[] {
  if (!operations.some((operation) => isTest(operation) && mayHaveNumbers(operation['value']))) return operations
  const replaced = replaceForeignLiterals(new TextDecoder().decode(bytes))
  if (replaced === undefined) return operations
  const reparsed = JSON.parse(replaced) as readonly unknown[]
  return operations.map((operation, i) => (isTest(operation) ? reparsed[i] : operation))
}

const isTest = (operation: unknown): operation is Record<string, unknown> => isRecord(operation) && operation['op'] === 'test'

const mayHaveNumbers = (value: unknown): boolean => typeof value === 'number' || (typeof value === 'object' && value !== null)

const foreignLiteral = JSON.stringify('\u0000a number literal that is not written by this server')

const charCode = (character: string): number => character.charCodeAt(0)
const [quote, backslash, zero, nine, minus] = ['"', '\\', '0', '9', '-'].map(charCode) as [number, number, number, number, number]

/** Replaces literals that this server would not write by a string; returns undefined if there are none. */
function replaceForeignLiterals(text: string): string | undefined {
  let out = ''
  let copiedTo = 0
  for (let i = 0; i < text.length; ) {
    const character = text.charCodeAt(i)
    if (character === quote) i = endOfString(text, i + 1)
    else if (character === minus || (character >= zero && character <= nine)) {
      const end = endOfNumber(text, i + 1)
      if (!isCanonical(text.slice(i, end))) {
        out += text.slice(copiedTo, i) + foreignLiteral
        copiedTo = end
      }
      i = end
    } else i++
  }
  return copiedTo === 0 ? undefined : out + text.slice(copiedTo)
}

function endOfString(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === quote) return i + 1
    if (character === backslash) i++
  }
  return text.length
}

function endOfNumber(text: string, from: number): number {
  let end = from
  while (end < text.length && '0123456789+-.eE'.includes(text[end] as string)) end++
  return end
}

/** Integers are written as they are, other numbers as the shortest literal. */
const isCanonical = (literal: string): boolean => (/^-?\d+$/.test(literal) ? literal !== '-0' : String(Number(literal)) === literal)
