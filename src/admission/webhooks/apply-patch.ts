// What the patch of a mutating hook makes of the object that it saw: read like what a client sends, and completed by the rules of its version.

import { ApiError } from '../../api/api-error.js'
import { quote } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { maxObjectBytes } from '../../base/most-body-bytes.js'
import { shorten } from '../../base/shorten.js'
import { parseJson, parseWrittenJson } from '../../codec/json.js'
import { countItems } from '../../codec/json-scan.js'
import { jsonPatch, requireFewOperations } from '../../patch/json-patch.js'
import { PatchError } from '../../patch/patch-error.js'
import type { AdmissionResponse } from '../../resources/admission/v1.schema.js'
import { JsonSyntaxError } from '../../schema/json-parse.js'
import { isRecord, readValue, SchemaReadError } from '../../schema/read.js'
import { timeOf } from '../../schema/scalars.js'
import { writeAny, writeValue } from '../../schema/write.js'
import type { AdmissionRequest } from '../admission.js'
import type { SeenAs } from '../matching/seen-as.js'
import { seenText, storedObject } from '../matching/seen-object.js'
import { HookCallError } from './hook-errors.js'

export interface Patched {
  /** In the stored version, as admission goes on with it. */
  readonly object: ApiObject
  /** Whether it says anything else than before. */
  readonly isChanged: boolean
  readonly operations: readonly unknown[]
}

const badStatus = 400

export interface Patching {
  readonly hook: string
  readonly as: SeenAs
  /** Whether the object was never read from a patched document before. */
  readonly isFirst: boolean
}

/** Undefined where there is nothing to do. Errors of a patch are no failures to call the hook: its policy does not forgive them. */
export async function applyPatch(
  request: AdmissionRequest,
  { hook, as, isFirst }: Patching,
  { patch = '', patchType }: AdmissionResponse,
): Promise<Patched | undefined> {
  if (patch === '') return undefined
  const operations = operationsIn(patch)
  if (operations.length === 0) return undefined
  const { object } = request
  if (object === undefined)
    throw internal(`admission webhook ${quote(hook)} attempted to modify the object, which is not supported for this operation`)
  if (patchType !== 'JSONPatch') throw new HookCallError(hook, `unsupported patch type ${quote(shorten(patchType ?? ''))}`, badStatus)
  const before = await seenText(request, object, as)
  const after = readPatched(patchedValue(before, operations), as)
  const text = textOf(after, as)
  if (text.length > maxObjectBytes && text.length > before.length)
    throw internal(`admission webhook ${quote(hook)} made the object longer than ${maxObjectBytes} bytes`)
  // A few operations can make a small object a large one.
  if (text.length > before.length) request.call.noteBytes(Buffer.from(text))
  return {
    object: await storedObject(request, completed(after, request, as), as),
    isChanged: text !== before || (isFirst && isStamped(request)),
    operations,
  }
}

/**
 * Times are known more exactly to the reference than they are written, until the first patch: what was stamped for this request
 * counts as changed by it, and who counts calls and reads audit logs knows it so.
 */
const isStamped = ({ object, call }: AdmissionRequest): boolean =>
  object?.metadata?.managedFields?.some(({ time }) => time === timeOf(call.now)) ?? false

const internal = (why: string): ApiError => ApiError.from(new Error(why))

function operationsIn(patch: string): readonly unknown[] {
  const bytes = Buffer.from(patch, 'base64')
  try {
    // To parse hundreds of thousands of operations takes longer than to count them.
    requireFewOperations(countItems(bytes))
    const { value } = parseJson(bytes)
    if (value === null) return []
    if (!Array.isArray(value)) throw internal('error decoding patch: a JSON patch must be a list of operations')
    return value
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError || thrown instanceof PatchError) throw internal(thrown.message)
    throw thrown
  }
}

function patchedValue(before: string, operations: readonly unknown[]): unknown {
  try {
    return jsonPatch(parseWrittenJson(before), operations)
  } catch (thrown) {
    if (thrown instanceof PatchError) throw internal(thrown.message)
    throw thrown
  }
}

/** It must still be an object of its kind. What the kind does not know is dropped. */
function readPatched(value: unknown, { kind, apiVersion, schema, resource, isStored }: SeenAs): ApiObject {
  if (!isRecord(value)) throw internal('the patch leaves no object')
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) throw internal(`the patch leaves no ${kind} of ${apiVersion}`)
  if (schema === undefined) return value
  try {
    const object = readValue(schema, value).value as ApiObject
    const unreadable = isStored ? resource.definition.unreadable?.(object) : undefined
    if (unreadable !== undefined) throw internal(unreadable)
    return object
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw internal(thrown.message)
    throw thrown
  }
}

const textOf = (object: ApiObject, { schema, kind, apiVersion }: SeenAs): string => {
  const typed = { ...object, kind, apiVersion }
  return schema === undefined ? writeAny(typed) : writeValue(schema, typed)
}

function completed(object: ApiObject, { call }: AdmissionRequest, { isStored, resource }: SeenAs): ApiObject {
  const { kind: _kind, apiVersion: _apiVersion, ...own } = object
  const defaults = isStored ? resource.defaults : call.subresource?.body?.defaults
  return defaults?.(own, call) ?? own
}
