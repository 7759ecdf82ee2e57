// The body of a PATCH: which kind of patch it is, and what it says.

import { badRequest } from '../api/api-error.js'
import { readDecimals, readDecimalsInOperations } from '../codec/decimal-numbers.js'
import { duplicatesInYaml } from '../codec/decode-object.js'
import { parseJson } from '../codec/json.js'
import { negotiatePatch } from '../codec/negotiation.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { YamlError } from '../codec/yaml/yaml-error.js'
import { JsonSyntaxError } from '../schema/json-parse.js'
import { printPath } from '../schema/path.js'
import { isRecord } from '../schema/read.js'
import type { PatchRequest, PatchType } from '../verbs/patch.js'
import { withSpelledTests } from './spelled-numbers.js'

const patchTypes = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
} as const satisfies { readonly [mediaType: string]: PatchType }

const mediaTypes = Object.keys(patchTypes) as (keyof typeof patchTypes)[]
/** Custom kinds have no merge rules by name. */
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

export type PatchBody = Pick<PatchRequest, 'patch' | 'duplicates' | 'strictError' | 'byKind'>

export function readPatch(type: PatchType, bytes: Uint8Array): PatchBody {
  const read = type === 'apply' ? readConfiguration(bytes) : readJsonPatch(type, bytes)
  // Nothing at all is no operation and no field, but for a merge patch, where it would take the place of the object.
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
    const patch = withSpelledTests(value, bytes)
    const byKind: PatchBody['byKind'] = (schema) => {
      const text = new TextDecoder().decode(bytes)
      return withSpelledTests(readDecimalsInOperations(text, value, schema) as readonly unknown[], bytes)
    }
    return { patch, duplicates: [...duplicates, ...unknownInOperations(value)], ...(decimals ? { byKind } : {}) }
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError)
      throw badRequest(type === 'strategic' ? thrown.message : `error decoding patch: ${thrown.message}`)
    throw thrown
  }
}

/** The reference, too, tells of so many. */
const mostUnknown = 100
const operationMembers = new Set(['op', 'path', 'from', 'value'])

function unknownInOperations(operations: unknown): readonly string[] {
  if (!Array.isArray(operations)) return []
  const unknown: string[] = []
  for (const [i, operation] of operations.entries()) {
    if (!isRecord(operation)) continue
    for (const key in operation) if (!operationMembers.has(key)) unknown.push(`unknown field "${printPath([i, key])}"`)
    if (unknown.length >= mostUnknown) break
  }
  return unknown.slice(0, mostUnknown)
}

/** True if an applied configuration is likely JSON, which is quicker to parse than YAML. */
export const isJson = (bytes: Uint8Array): boolean => bytes[0] === 0x7b

function readConfiguration(bytes: Uint8Array): PatchBody {
  if (isJson(bytes)) {
    try {
      const { value, careful } = parseJson(bytes)
      if (careful === undefined) return { patch: value, duplicates: [] }
    } catch (thrown) {
      if (!(thrown instanceof JsonSyntaxError)) throw thrown // what is not JSON may still be YAML
    }
  }
  try {
    const { value, duplicates } = readYaml(new TextDecoder().decode(bytes))
    if (duplicates.length === 0) return { patch: value ?? {}, duplicates }
    return {
      patch: value,
      duplicates,
      strictError: `error strict decoding YAML: error converting YAML to JSON: ${duplicatesInYaml(duplicates)}`,
    }
  } catch (thrown) {
    if (thrown instanceof YamlError) throw badRequest(`error decoding YAML: error converting YAML to JSON: ${thrown.message}`)
    throw thrown
  }
}
