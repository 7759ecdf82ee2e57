// Reads the result of a patch as an object of its kind: unknown fields, type errors, and patch errors as API errors.

import { ApiError, badRequest, invalid, requestEntityTooLarge } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { invalid as invalidField, showJson } from '@cluster-apiserver/api/api/field-error.js'
import { objectMeta } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { fieldValidationOf } from '@cluster-apiserver/api/api/options/write-options.js'
import { PatchError } from '@cluster-apiserver/api/patch/patch-error.js'
import { inMemberOrder, inPruningOrder, inTextOrder } from '@cluster-apiserver/api/schema/json/pruning.js'
import { readValue, SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import { readChanged } from '@cluster-apiserver/api/schema/json/read-changed.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import { type PathElement, printPath } from '@cluster-apiserver/api/schema/path.js'
import type { PatchType } from './worker-steps.js'

export interface PatchRequest {
  readonly type: PatchType
  /** The parsed body. */
  readonly patch: unknown
  /** The body as sent; absent for controllers. */
  readonly bytes?: Uint8Array
  /** Messages about duplicate fields in the body. */
  readonly duplicates: readonly string[]
  /** The message of fieldValidation=Strict, if the format has its own. */
  readonly strictError?: string
  /** Parses the patch again with the number types of a schema. Throws {@link SchemaReadError}. */
  readonly byKind?: (schema: StructNode) => unknown
}

/** A body that is parsed after the object was found, in a worker thread if it is large. */
export interface UnreadPatch {
  readonly type: PatchType
  readonly bytes: Uint8Array
  readonly read: () => PatchRequest
}

/** The live object if only changed fields must be read again; undefined if all must. */
export const unchangedBase = ({ schema, storedSchema, definition }: Resource, live: ApiObject | undefined): ApiObject | undefined =>
  schema === storedSchema && definition.custom === undefined ? live : undefined

export const noProblems: readonly string[] = []

/** Reports and drops unknown fields. Throws 422 for values of the wrong type. */
export function readPatched(
  schema: StructNode,
  call: Call,
  { request, result, before }: { readonly request: PatchRequest; readonly result: unknown; readonly before?: ApiObject | undefined },
): ApiObject {
  try {
    const { value, report: found } =
      before === undefined ? readValue(schema, result, { keepsNulls: request.type === 'apply' }) : readChanged(schema, before, result)
    if (found.unknown.length > 0) {
      const unknown = sortUnknownFields(found.unknown, schema, call, request)
      reportProblems(
        call,
        request,
        unknown.map((path) => `unknown field "${printPath(path)}"`),
      )
    } else reportProblems(call, request, noProblems)
    const object = withoutType(value as ApiObject)
    const unreadable = schema === call.resource.schema ? call.resource.definition.unreadable?.(object) : undefined
    if (unreadable !== undefined) throw unprocessablePatch(request, unreadable, result)
    return object
  } catch (thrown) {
    if (thrown instanceof SchemaReadError)
      throw unprocessablePatch(request, request.type === 'strategic' ? mergeErrorMessage(thrown) : thrown.message, result)
    throw thrown
  }
}

function withoutType(object: ApiObject): ApiObject {
  if (object.kind === undefined && object.apiVersion === undefined) return object
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  return rest
}

/** The order in which kube-apiserver reports unknown fields: it depends on the patch type and on custom resources. */
function sortUnknownFields(unknown: readonly (readonly PathElement[])[], schema: StructNode, call: Call, request: PatchRequest) {
  if (call.resource.definition.custom !== undefined && schema === call.resource.schema) return inPruningOrder(schema, objectMeta, unknown)
  return request.type === 'strategic' ? inTextOrder(unknown) : inMemberOrder(unknown)
}

/** kube-apiserver's message for a type error in the result of a strategic merge patch. */
function mergeErrorMessage({ path, message, mismatch }: SchemaReadError): string {
  if (mismatch === undefined) return message
  const target = mismatch.expected === 'list' ? 'slice from' : mismatch.expected === 'map' ? 'map from' : undefined
  const isStruct = /^[A-Z]/.test(mismatch.expected)
  if (target === undefined && !isStruct) return message
  return `${path}: cannot restore ${target ?? 'struct from:'} ${mergedTypes[mismatch.found] ?? mismatch.found}`
}

const mergedTypes: { readonly [type: string]: string } = { object: 'map', array: 'slice', number: 'int64', boolean: 'bool' }

export function reportProblems(call: Call, request: PatchRequest, unknown: readonly string[]): void {
  if (request.duplicates.length === 0 && unknown.length === 0) return
  const problems = [...request.duplicates, ...unknown]
  const validation = fieldValidationOf(call)
  if (validation === 'Strict') throw badRequest(request.strictError ?? `strict decoding error: ${problems.join(', ')}`)
  if (validation === 'Warn') for (const problem of problems) call.warn(problem)
}

/** Shows the patched document, or a strategic merge patch, as kube-apiserver does. */
export const unprocessablePatch = ({ type, patch }: PatchRequest, problem: string, patched?: unknown): ApiError =>
  invalid({ group: '', kind: '' }, '', [invalidField('patch', showJson(type === 'strategic' ? patch : (patched ?? patch)), problem)])

const rejected = 'the server rejected our request due to an error in our request'

export function translatePatchErrors<T>(applyPatch: () => T): T {
  try {
    return applyPatch()
  } catch (thrown) {
    if (!(thrown instanceof PatchError)) throw thrown
    switch (thrown.kind) {
      case 'malformed':
      case 'untyped':
        throw badRequest(thrown.message)
      case 'too-many-operations':
        throw requestEntityTooLarge(thrown.message)
      case 'conflict':
        throw new ApiError({ code: 409, reason: 'Conflict', message: thrown.message, details: { causes: thrown.causes } })
      case 'unprocessable':
        throw new ApiError({ code: 422, reason: 'Invalid', message: thrown.message, details: {} })
      default:
        throw new ApiError({ code: 422, reason: 'Invalid', message: rejected, details: {} })
    }
  }
}
