// PATCH: the stored object changed by one of the four kinds of patch, then the same way in as an update.

import { ApiError, badRequest, conflict, invalid, notFound, requestEntityTooLarge } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { SubresourceView } from '../api/definition.js'
import { invalid as invalidField, showJson } from '../api/field-error.js'
import type { Identity } from '../api/identity.js'
import { objectMeta } from '../api/meta.schema.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import { fieldValidationOf } from '../api/options/write-options.js'
import { withDistinctOwners } from '../api/validation/owner-references.js'
import { onceFor } from '../base/once-for.js'
import type { Promised } from '../base/promised.js'
import { shorten } from '../base/shorten.js'
import { type ApplyOutcome, apply } from '../patch/apply.js'
import { jsonPatch } from '../patch/json-patch.js'
import { mergePatch } from '../patch/merge-patch.js'
import { PatchError } from '../patch/patch-error.js'
import { parentEntries, type ScaleFields, scaleEntries } from '../patch/scale-fields.js'
import { strategicMergePatch } from '../patch/strategic-merge-patch.js'
import type { StructNode } from '../schema/node.js'
import { type PathElement, printPath } from '../schema/path.js'
import { readValue, SchemaReadError } from '../schema/read.js'
import { readChanged } from '../schema/read-changed.js'
import { timeOf } from '../schema/scalars.js'
import { inMemberOrder, inPruningOrder, inTextOrder } from '../schema/unknown-order.js'
import { writeAny } from '../schema/write.js'
import { checkNamespace, create, inNamespace } from './create.js'
import { addressOf, type Engine, upToDate, type Written } from './engine.js'
import { kindVersions, resetOf, track } from './managed-fields.js'
import { isOvertaken, maxOvertaken } from './overtaken.js'
import { type EncodedPatch, type LiveObject, stepsFor } from './steps.js'
import { change, checkName, mayCreate } from './update.js'
import { converting, fromStored, shownAs, toStored, withDefaults } from './versions.js'
import { writeView } from './view.js'

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface PatchRequest {
  readonly type: PatchType
  /** The body, parsed; undefined where a worker thread does that. */
  readonly patch: unknown
  /** The body as it was sent; left out by controllers. */
  readonly bytes?: Uint8Array
  /** Sentences about members that stood twice in the body. */
  readonly duplicates: readonly string[]
  /** What a strict request is told of them, where the format has words of its own. */
  readonly strictError?: string
  /** What the patch says of a kind, where that depends on how its numbers are written. Throws {@link SchemaReadError}. */
  readonly byKind?: (schema: StructNode) => unknown
}

export async function patch(engine: Engine, call: Call, request: PatchRequest, attempts = 1): Promise<Written> {
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  const current = engine.store.readOften(addressOf(call))
  const mayMake = request.type === 'apply' && (call.subresource === undefined || mayCreate(call))
  if (current === undefined && !mayMake) throw notFound(call.resource.subject, call.name)
  const next = (live: LiveObject): Promised<ApiObject> =>
    stepsFor(engine, call)?.patch(call, encodedPatch(request), live) ?? converting(call, () => patchedObject(call, live.object, request))
  if (!mayMake && current !== undefined) return change(engine, call, { current, next, isPatch: true })
  try {
    return await (current === undefined ? createByApply(engine, call, request) : change(engine, call, { current, next, isPatch: true }))
  } catch (thrown) {
    if (attempts >= maxOvertaken || !isOvertaken(engine, call, current, thrown)) throw thrown
    return patch(engine, call, request, attempts + 1)
  }
}

const encodedPatch = ({ type, patch: parsed, bytes = Buffer.from(writeAny(parsed)) }: PatchRequest): EncodedPatch => ({ type, bytes })

/** The live object changed by the patch, in the stored version; without a live object, the one that an apply creates. */
export function patchedObject(call: Call, live: ApiObject | undefined, request: PatchRequest): ApiObject {
  if (request.type === 'apply') checkConfiguration(call.subresource?.shown ?? call.resource, request.patch as ApiObject)
  if (live === undefined) return createdByApply(call, request)
  const act = request.type !== 'apply' ? patched : call.subresource?.view === undefined ? applied : appliedToView
  return toStored(call, act(call, live, request))
}

/** An applied configuration names its kind and its object, and leaves the bookkeeping to the server. */
function checkConfiguration(resource: Resource, config: ApiObject): void {
  if (config.apiVersion !== resource.apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${wordOf(config.apiVersion)}, expected: ${resource.apiVersion}`,
    )
  }
  if (config.kind !== resource.kind)
    throw badRequest(`the kind of the applied configuration must be ${resource.kind}, not ${JSON.stringify(wordOf(config.kind))}`)
  if (config.metadata?.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil')
}

/** What should be a text may be anything in a configuration that was not decoded by a schema yet. */
const wordOf = (value: unknown): string => (typeof value === 'object' && value !== null ? '{…}' : shorten(String(value ?? '')))

async function createByApply(engine: Engine, call: Call, request: PatchRequest): Promise<Written> {
  const object = await (stepsFor(engine, call)?.patch(call, encodedPatch(request), undefined) ??
    converting(call, () => patchedObject(call, undefined, request)))
  return create(engine, call, { object: withMetadata(object, { resourceVersion: undefined }), isTracked: true, isByTheWay: true })
}

function createdByApply(call: Call, request: PatchRequest): ApiObject {
  const object = applied(call, undefined, request)
  const uid = (request.patch as ApiObject).metadata?.uid
  if (uid === undefined) return object
  throw conflict(
    call.resource.subject,
    call.name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  )
}

function applied(call: Call, live: ApiObject | undefined, request: PatchRequest): ApiObject {
  const config = request.patch as ApiObject
  checkNamespace(call, config)
  report(call, request, noProblems)
  const { schema, kind, apiVersion, schemaFor, convert } = kindVersions(call)
  const shown = live === undefined ? undefined : fromStored(call, live)
  const result = translated(() =>
    apply({
      live: shown,
      config,
      liveManagedFields: live?.metadata?.managedFields,
      manager: call.options.fieldManager ?? '',
      schema,
      kind,
      apiVersion,
      schemaFor,
      convert,
      subresource: call.subresource?.name ?? '',
      force: call.options.force ?? false,
      time: timeOf(call.now),
      clientSideApply: clientSideApply(call.identity),
      reset: resetOf(call),
    }),
  )
  const object = !result.isChanged && shown !== undefined ? shown : withDefaults(call, readApplied(call, request, { live, shown, result }))
  // A configuration without a name is for the object that the path names; who owns what comes before what it is called.
  checkName(call, object)
  return withMetadata(withDistinctOwners(inNamespace(call, object), call.warn, true), {
    managedFields: result.managedFields,
    resourceVersion: config.metadata?.resourceVersion ?? live?.metadata?.resourceVersion,
  })
}

interface Applied {
  readonly live: ApiObject | undefined
  /** The same in the version of the client. */
  readonly shown: ApiObject | undefined
  readonly result: ApplyOutcome
}

const readApplied = (call: Call, request: PatchRequest, { live, shown, result }: Applied): ApiObject =>
  read(call.resource.schema, call, { request, result: result.object, before: shown === live ? asRead(call.resource, live) : undefined })

/** Of an object that was read from the store as it is only what changed has to be read anew; undefined: all of it. */
const asRead = ({ schema, storedSchema, definition }: Resource, live: ApiObject | undefined): ApiObject | undefined =>
  schema === storedSchema && definition.custom === undefined ? live : undefined

const noProblems: readonly string[] = []

/** The same through a view: it has fields of its own, whose owners are found among those of the object and told to it again. */
function appliedToView(call: Call, live: ApiObject, request: PatchRequest): ApiObject {
  const config = request.patch as ApiObject
  const view = call.subresource?.view as SubresourceView
  const shown = call.subresource?.shown ?? call.resource
  const { kind, apiVersion, schema } = shown
  checkNamespace(call, config)
  report(call, request, noProblems)
  const fields: ScaleFields = {
    scaleVersion: apiVersion,
    apiVersion: call.resource.apiVersion,
    replicasPath: (version) => {
      const known = call.resource.versions.get(version)
      return known && (known.replicasPath ?? 'spec.replicas')
    },
  }
  const parent = live.metadata?.managedFields
  const result = translated(() =>
    apply({
      live: shownAs(call, shown, live),
      config,
      liveManagedFields: scaleEntries(fields, parent),
      manager: call.options.fieldManager ?? '',
      schema,
      kind,
      apiVersion,
      schemaFor: (version) => (version === apiVersion ? schema : undefined),
      convert: (object) => object,
      subresource: call.subresource?.name ?? '',
      force: call.options.force ?? false,
      time: timeOf(call.now),
    }),
  )
  const sent = inNamespace(call, read(schema, call, { request, result: result.object }))
  checkName(call, sent)
  return withMetadata(writeView(call, view, { sent, live }), {
    managedFields: parentEntries(fields, { parent, scale: result.managedFields }),
    resourceVersion: config.metadata?.resourceVersion ?? live.metadata?.resourceVersion,
  })
}

function patched(call: Call, live: ApiObject, request: PatchRequest): ApiObject {
  const view = call.subresource?.view
  const shown = call.subresource?.shown ?? call.resource
  const current = shownAs(call, shown, live)
  const document = { kind: shown.kind, apiVersion: shown.apiVersion, ...current }
  const result = translated(() => {
    switch (request.type) {
      case 'json':
        return jsonPatched(document as never, request, shown)
      case 'merge':
        return mergePatch(document as never, saidOf(request, shown) as never)
      default:
        return strategicMergePatch(document as never, request.patch as never, shown.schema)
    }
  })
  if (request.type !== 'strategic') checkStillTheKind(call, { request, result, shown })
  const before = shown === call.resource && current === live ? asRead(shown, live) : undefined
  const sent = withDistinctOwners(inNamespace(call, read(shown.schema, call, { request, result, before })), call.warn, true)
  checkName(call, sent)
  const next = view === undefined ? withDefaults(call, sent) : writeView(call, view, { sent, live })
  return track(call, { live, next })
}

/** What is wrong with the operations is told before what is wrong with their numbers. */
function jsonPatched(document: ApiObject, request: PatchRequest, shown: Resource): unknown {
  const result = jsonPatch(document as never, request.patch)
  const said = saidOf(request, shown)
  return said === request.patch ? result : jsonPatch(document as never, said)
}

/** Patches keep numbers as they are written until the object is read, so that what is wrong with them is wrong with the object. */
function saidOf(request: PatchRequest, { schema, definition }: Resource): unknown {
  if (request.byKind === undefined || definition.custom !== undefined) return request.patch
  try {
    return request.byKind(schema)
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw unfit(request, thrown.message)
    throw thrown
  }
}

interface PatchedDocument {
  readonly request: PatchRequest
  readonly result: unknown
  readonly shown: Resource
}

/** A patched document is read like one that was sent. A strategic patch works on the fields of the kind, which it cannot leave. */
function checkStillTheKind(call: Call, { request, result, shown }: PatchedDocument): void {
  const { kind, apiVersion, definition } = shown
  const isCustom = definition.custom !== undefined && shown.kind === definition.kind
  const patchedTo = result as Partial<ApiObject>
  if (!patchedTo.apiVersion) {
    if (isCustom) throw unfit(request, 'the patch leaves no apiVersion')
    // What is of no version is read as an object without fields.
    checkName(call, {})
  }
  if (isCustom && patchedTo.kind) {
    checkCustomType(patchedTo, shown)
    return
  }
  if (patchedTo.apiVersion !== apiVersion) {
    throw unfit(
      request,
      `the API version in the data (${shorten(String(patchedTo.apiVersion))}) does not match the expected API version (${apiVersion})`,
    )
  }
  // A kind of the server's own is known from the path; a custom one is known from its objects alone.
  if (!patchedTo.kind && isCustom) throw unfit(request, "Object 'Kind' is missing")
  if ((patchedTo.kind || kind) !== kind) {
    throw unfit(request, `the kind in the data (${shorten(String(patchedTo.kind))}) does not match the expected kind (${kind})`)
  }
}

/** What a custom object says it is, is checked like its other fields. */
function checkCustomType({ kind, apiVersion, metadata }: Partial<ApiObject>, shown: Resource): void {
  const wrong = (field: string, said: unknown, wanted: string) => (said === wanted ? [] : [invalidField(field, said, `must be ${wanted}`)])
  const errors = [...wrong('kind', kind, shown.kind), ...wrong('apiVersion', apiVersion, shown.apiVersion)]
  if (errors.length > 0) throw invalid({ group: shown.group, kind: shorten(String(kind)) }, String(metadata?.name ?? ''), errors)
}

/** What a client that computes its own patches leaves behind; when it turns to apply, its fields become the applier's. */
const clientSideApply = onceFor((identity: Identity) => ({
  manager: 'kubectl',
  annotation: identity.label('last-applied-configuration', 'kubectl'),
}))

/** The result of a patch must be an object of the kind; what it has too much is reported and dropped. */
function read(
  schema: StructNode,
  call: Call,
  { request, result, before }: { readonly request: PatchRequest; readonly result: unknown; readonly before?: ApiObject | undefined },
): ApiObject {
  try {
    const { value, report: found } = before === undefined ? readValue(schema, result) : readChanged(schema, before, result)
    if (found.unknown.length > 0) {
      const unknown = inOrder(found.unknown, schema, call, request)
      report(
        call,
        request,
        unknown.map((path) => `unknown field "${printPath(path)}"`),
      )
    } else report(call, request, noProblems)
    const object = withoutType(value as ApiObject)
    const unreadable = schema === call.resource.schema ? call.resource.definition.unreadable?.(object) : undefined
    if (unreadable !== undefined) throw unfit(request, unreadable)
    return object
  } catch (thrown) {
    if (thrown instanceof SchemaReadError) throw unfit(request, request.type === 'strategic' ? inMerging(thrown) : thrown.message)
    throw thrown
  }
}

function withoutType(object: ApiObject): ApiObject {
  if (object.kind === undefined && object.apiVersion === undefined) return object
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  return rest
}

/** What was merged as a document has its members sorted; a tree is asked for what it has too much by name. */
function inOrder(unknown: readonly (readonly PathElement[])[], schema: StructNode, call: Call, request: PatchRequest) {
  if (call.resource.definition.custom !== undefined && schema === call.resource.schema) return inPruningOrder(schema, objectMeta, unknown)
  return request.type === 'strategic' ? inTextOrder(unknown) : inMemberOrder(unknown)
}

/** A strategic patch is merged as a tree of values before it is read as an object: clients know the words for what does not fit then. */
function inMerging({ path, message, mismatch }: SchemaReadError): string {
  if (mismatch === undefined) return message
  const target = mismatch.expected === 'list' ? 'slice from' : mismatch.expected === 'map' ? 'map from' : undefined
  const isStruct = /^[A-Z]/.test(mismatch.expected)
  if (target === undefined && !isStruct) return message
  return `${path}: cannot restore ${target ?? 'struct from:'} ${mergedTypes[mismatch.found] ?? mismatch.found}`
}

const mergedTypes: { readonly [type: string]: string } = { object: 'map', array: 'slice', number: 'int64', boolean: 'bool' }

function report(call: Call, request: PatchRequest, unknown: readonly string[]): void {
  if (request.duplicates.length === 0 && unknown.length === 0) return
  const problems = [...request.duplicates, ...unknown]
  const validation = fieldValidationOf(call.options)
  if (validation === 'Strict') throw badRequest(request.strictError ?? `strict decoding error: ${problems.join(', ')}`)
  if (validation === 'Warn') for (const problem of problems) call.warn(problem)
}

const unfit = (request: PatchRequest, why: string): ApiError =>
  invalid({ group: '', kind: '' }, '', [invalidField('patch', showJson(request.patch), why)])

const rejected = 'the server rejected our request due to an error in our request'

/** Errors of the patch room, as Status. */
function translated<T>(act: () => T): T {
  try {
    return act()
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
