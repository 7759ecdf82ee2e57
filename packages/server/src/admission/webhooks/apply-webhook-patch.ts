// Applies the JSON patch of a mutating webhook, decodes the result like a request body, and sets defaults.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { quote } from '@cluster-apiserver/api/api/field-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { maxObjectBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { countItems, parseJson, parseWrittenJson } from '@cluster-apiserver/api/codec/json/json.js'
import { jsonPatch, requireFewOperations } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { PatchError } from '@cluster-apiserver/api/patch/patch-error.js'
import type { AdmissionResponse } from '@cluster-apiserver/api/resources/admission/v1.schema.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord, readValue, SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import { writeAny, writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { AdmissionRequest } from '../admission-plugin.js'
import { type MatchedKind, toStoredVersion, versionedJson } from '../matching/versioned-object.js'
import { WebhookCallError } from './webhook-errors.js'

interface Patched {
  readonly object: ApiObject
  readonly isChanged: boolean
  readonly operations: readonly unknown[]
}

const badRequestCode = 400

interface PatchContext {
  readonly webhook: string
  readonly matched: MatchedKind
  /** True if no webhook has patched the object in this request. */
  readonly isFirst: boolean
}

/** Returns undefined without a patch. Errors of a patch are not call failures: failurePolicy does not apply. */
export async function applyPatch(
  request: AdmissionRequest,
  { webhook, matched, isFirst }: PatchContext,
  { patch = '', patchType }: AdmissionResponse,
): Promise<Patched | undefined> {
  if (patch === '') return undefined
  const operations = operationsIn(patch)
  if (operations.length === 0) return undefined
  const { object } = request
  if (object === undefined)
    throw internalError(`admission webhook ${quote(webhook)} attempted to modify the object, which is not supported for this operation`)
  if (patchType !== 'JSONPatch')
    throw new WebhookCallError(webhook, `unsupported patch type ${quote(shorten(patchType ?? ''))}`, badRequestCode)
  const before = await versionedJson(request, object, matched)
  const after = readPatched(patchedValue(before, operations), matched)
  const text = textOf(after, matched)
  if (text.length > maxObjectBytes && text.length > before.length)
    throw internalError(`admission webhook ${quote(webhook)} made the object longer than ${maxObjectBytes} bytes`)
  // A few operations can make a small object large.
  if (text.length > before.length) request.call.noteBytes(Buffer.from(text))
  return {
    object: await toStoredVersion(request, withDefaults(after, request, matched), matched),
    isChanged: text !== before || (isFirst && hasNewManagedFields(request)),
    operations,
  }
}

/** kube-apiserver has exact times until the first patch rounds them, so an object with managedFields of this request counts as changed. */
const hasNewManagedFields = ({ object, call }: AdmissionRequest): boolean =>
  object?.metadata?.managedFields?.some(({ time }) => time === timeOf(call.now)) ?? false

const internalError = (why: string): ApiError => ApiError.from(new Error(why))

function operationsIn(patch: string): readonly unknown[] {
  const bytes = Buffer.from(patch, 'base64')
  try {
    // Counts before parsing: a patch may have hundreds of thousands of operations.
    requireFewOperations(countItems(bytes))
    const { value } = parseJson(bytes)
    if (value === null) return []
    if (!Array.isArray(value)) throw internalError('error decoding patch: a JSON patch must be a list of operations')
    return value
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError || thrown instanceof PatchError) throw internalError(thrown.message)
    throw thrown
  }
}

function patchedValue(before: string, operations: readonly unknown[]): unknown {
  try {
    return jsonPatch(parseWrittenJson(before), operations)
  } catch (thrown) {
    if (thrown instanceof PatchError) throw internalError(thrown.message)
    throw thrown
  }
}

/** The result must have the same kind; unknown fields are dropped. */
function readPatched(value: unknown, { kind, apiVersion, schema, resource, isStored }: MatchedKind): ApiObject {
  if (!isRecord(value)) throw internalError('the patched value is not an object')
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion)
    throw internalError(`the patched object is not a ${kind} of ${apiVersion}`)
  if (schema === undefined) return value
  try {
    const object = readValue(schema, value).value as ApiObject
    const unreadable = isStored ? resource.definition.unreadable?.(object) : undefined
    if (unreadable !== undefined) throw internalError(unreadable)
    return object
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw internalError(thrown.message)
    throw thrown
  }
}

const textOf = (object: ApiObject, { schema, kind, apiVersion }: MatchedKind): string => {
  const typed = { ...object, kind, apiVersion }
  return schema === undefined ? writeAny(typed) : writeValue(schema, typed)
}

function withDefaults(object: ApiObject, { call }: AdmissionRequest, { isStored, resource }: MatchedKind): ApiObject {
  const { kind: _kind, apiVersion: _apiVersion, ...content } = object
  const defaults = isStored ? resource.defaults : call.subresource?.body?.defaults
  return defaults?.(content, call) ?? content
}
