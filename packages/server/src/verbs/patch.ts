// PATCH: JSON patch, merge patch, strategic merge patch or server-side apply; the result is committed like an update.

import { type ApiError, invalid, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { invalid as invalidField } from '@cluster-apiserver/api/api/field-error.js'
import { type ApiObject, findType, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { withDistinctOwners } from '@cluster-apiserver/api/api/validation/metadata/object-meta.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { jsonPatch } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { mergePatch } from '@cluster-apiserver/api/patch/merge-patch.js'
import { strategicMergePatch } from '@cluster-apiserver/api/patch/strategic-merge-patch/strategic-merge-patch.js'
import { withAbsentFields } from '@cluster-apiserver/api/schema/json/absent-fields.js'
import { SchemaReadError } from '@cluster-apiserver/api/schema/json/read.js'
import { writeAny } from '@cluster-apiserver/api/schema/json/write.js'
import { printPath } from '@cluster-apiserver/api/schema/path.js'
import { create, inNamespace, requireVersionNumber } from './create.js'
import { addressOf, awaitReadIndex, type Engine, type Written } from './engine.js'
import { trackManagedFields } from './managed-fields.js'
import {
  type PatchRequest,
  readPatched,
  reportProblems,
  translatePatchErrors,
  type UnreadPatch,
  unchangedBase,
  unprocessablePatch,
} from './read-patched.js'
import { applyAsCreate, applyToObject, applyToScale } from './server-side-apply.js'
import { canUpsert, change, checkName, isLostRace, maxLostRaces } from './update.js'
import { runWithConversions, toEndpointVersion, toStored, withDefaults, writeView } from './version-conversion.js'
import type { EncodedPatch, LiveObject } from './worker-steps.js'
import { workerStepsFor } from './write-steps.js'

export async function patch(engine: Engine, call: Call, request: PatchRequest | UnreadPatch, attempts = 1): Promise<Written> {
  await awaitReadIndex(engine, call)
  const current = engine.store.readCached(addressOf(call))
  const mayCreate = request.type === 'apply' && (call.subresource === undefined || canUpsert(call))
  if (current === undefined && !mayCreate) throw notFound(call.resource.subject, call.name)
  let read: PatchRequest | undefined
  const parsed = (): PatchRequest => {
    read ??= 'read' in request ? request.read() : request
    return read
  }
  const next = (live: LiveObject): Promise<ApiObject> =>
    workerStepsFor(engine, call)?.patch(call, encodedPatch(request), live) ??
    runWithConversions(call, () => patchedObject(call, live.object, parsed()))
  if (!mayCreate && current !== undefined) return change(engine, call, { current, next, isPatch: true })
  try {
    return await (current === undefined
      ? createByApply(engine, call, { request, parsed })
      : change(engine, call, { current, next, isPatch: true }))
  } catch (thrown) {
    if (attempts >= maxLostRaces || !isLostRace(engine, call, current, thrown)) throw thrown
    return patch(engine, call, request, attempts + 1)
  }
}

const encodedPatch = (request: PatchRequest | UnreadPatch): EncodedPatch => ({
  type: request.type,
  bytes: 'read' in request ? request.bytes : (request.bytes ?? Buffer.from(writeAny(request.patch))),
})

/** The patched object in the storage version. Without `live`: the object that an apply creates. */
export function patchedObject(call: Call, live: ApiObject | undefined, request: PatchRequest): ApiObject {
  if (live === undefined) return applyAsCreate(call, request)
  const applyRequest = request.type !== 'apply' ? patchObject : call.subresource?.view === undefined ? applyToObject : applyToScale
  return toStored(call, applyRequest(call, live, request))
}

interface AppliedPatch {
  readonly request: PatchRequest | UnreadPatch
  readonly parsed: () => PatchRequest
}

async function createByApply(engine: Engine, call: Call, { request, parsed }: AppliedPatch): Promise<Written> {
  const object = await (workerStepsFor(engine, call)?.patch(call, encodedPatch(request), undefined) ??
    runWithConversions(call, () => patchedObject(call, undefined, parsed())))
  requireVersionNumber(object)
  return create(engine, call, { object: withMetadata(object, { resourceVersion: undefined }), isTracked: true, isUpsert: true })
}

function patchObject(call: Call, live: ApiObject, request: PatchRequest): ApiObject {
  const view = call.subresource?.view
  const shown = call.subresource?.shown ?? call.resource
  const current = toEndpointVersion(call, shown, live)
  // Merge patches give the same result without the zero values that JSON shows.
  const json = request.type === 'merge' ? current : (withAbsentFields(shown.schema, current) as ApiObject)
  const document = { kind: shown.kind, apiVersion: shown.apiVersion, ...json }
  const result = translatePatchErrors(() => {
    switch (request.type) {
      case 'json':
        return applyJsonPatch(document as never, request, shown)
      case 'merge':
        return mergePatch(document as never, patchForSchema(request, shown) as never)
      default:
        return strategicMergePatch(document as never, request.patch as never, shown.schema)
    }
  })
  if (request.type !== 'strategic') checkKindUnchanged(call, { request, result, shown })
  const before = shown === call.resource && current === live ? unchangedBase(shown, live) : undefined
  const sent = inNamespace(call, readPatched(shown.schema, call, { request, result, before }))
  checkName(call, sent)
  const next = view === undefined ? withDefaults(call, sent) : writeView(call, view, { sent, live })
  // Duplicate owner references disable tracking, as in kube-apiserver: they are dropped afterwards.
  return withDistinctOwners(trackManagedFields(call, { live, next }), call.warn, true)
}

/** Errors of operations are reported before errors of numbers. */
function applyJsonPatch(document: ApiObject, request: PatchRequest, shown: Resource): unknown {
  const result = jsonPatch(document as never, request.patch)
  const typed = patchForSchema(request, shown)
  return typed === request.patch ? result : jsonPatch(document as never, typed)
}

/** The patch with its numbers parsed as the schema says. Custom resources keep them as written. */
function patchForSchema(request: PatchRequest, { schema, definition }: Resource): unknown {
  if (request.byKind === undefined || definition.custom !== undefined) return request.patch
  try {
    return request.byKind(schema)
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw unprocessablePatch(request, thrown.message)
    throw thrown
  }
}

interface PatchedDocument {
  readonly request: PatchRequest
  readonly result: unknown
  readonly shown: Resource
}

/** Throws if a JSON or merge patch has changed kind or apiVersion; strategic merge patches cannot change them. */
function checkKindUnchanged(call: Call, { request, result, shown }: PatchedDocument): void {
  const { definition } = shown
  const isCustom = definition.custom !== undefined && shown.kind === definition.kind
  const document = (result ?? {}) as { readonly [name: string]: unknown }
  const { kind, apiVersion } = isCustom ? document : findType(document, sortTexts(Object.keys(document)))
  if (isCustom) {
    if (!apiVersion) throw unprocessablePatch(request, 'the patch leaves no apiVersion', result)
    // The kind of a custom resource is read from the object; built-in kinds are known from the URL.
    if (!kind) throw unprocessablePatch(request, "Object 'Kind' is missing", result)
    checkCustomType({ kind, apiVersion, metadata: document['metadata'] } as Partial<ApiObject>, shown)
    return
  }
  const mismatch = (member: string, found: unknown, expected: string): ApiError =>
    unprocessablePatch(
      request,
      `the ${member} in the data (${shorten(String(found))}) does not match the expected ${member} (${expected})`,
      result,
    )
  if (apiVersion && apiVersion !== shown.apiVersion) throw mismatch('API version', apiVersion, shown.apiVersion)
  if (kind && kind !== shown.kind) throw mismatch('kind', kind, shown.kind)
  if (apiVersion) return
  // kube-apiserver knows no fields of an object without apiVersion, not even its metadata.
  const unknown = sortTexts(Object.keys(document)).filter((name) => name !== 'kind' && name !== 'apiVersion')
  reportProblems(
    call,
    request,
    unknown.map((name) => `unknown field "${printPath([name])}"`),
  )
  checkName(call, {})
}

function checkCustomType({ kind, apiVersion, metadata }: Partial<ApiObject>, shown: Resource): void {
  const fieldErrors = (field: string, found: unknown, wanted: string) =>
    found === wanted ? [] : [invalidField(field, found, `must be ${wanted}`)]
  const errors = [...fieldErrors('kind', kind, shown.kind), ...fieldErrors('apiVersion', apiVersion, shown.apiVersion)]
  if (errors.length > 0) throw invalid({ group: shown.group, kind: shorten(String(kind)) }, String(metadata?.name ?? ''), errors)
}
