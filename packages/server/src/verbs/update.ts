// PUT, and the commit of every PATCH: compute the new object from the stored one, validate, commit, and retry after a conflict.

import { ApiError, badRequest, conflict, invalid, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { invalid as invalidField } from '@cluster-apiserver/api/api/field-error.js'
import { type ApiObject, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import { withDistinctOwners } from '@cluster-apiserver/api/api/validation/metadata/object-meta.js'
import { sameValueBut } from '@cluster-apiserver/api/api/validation/same-value.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { isSameButForTimes } from '@cluster-apiserver/api/patch/managed-fields/managed-fields-entries.js'
import { AdmissionRequest } from '../admission/admission-plugin.js'
import type { CommitWith } from '../admission/quota/resource-quota.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import type { ObjectStore, WriteOutcome } from '../objects/object-store.js'
import { create, inNamespace, requireVersionNumber } from './create.js'
import { isDeletionBlocked } from './deletion-finalizers.js'
import { addressOf, awaitReadIndex, type CommitState, commitWithQuota, type Engine, type Written } from './engine.js'
import { type KeyLock, KeyLocks } from './key-lock.js'
import { trackManagedFields } from './managed-fields.js'
import { type Reserved, reserve, uniqueKeysOfChange, uniqueKeysOfRemoval } from './reserve/reserve.js'
import { asStored, asValidated, converting, runWithConversions, toStored, viewOf, withView, writeView } from './version-conversion.js'
import type { LiveObject } from './worker-steps.js'
import { checkObjectSize, decode, validateAndEncode, workerStepsFor } from './write-steps.js'

interface UpdateRequest {
  readonly object: ApiObject
}

export const modifiedMessage = 'the object has been modified; please apply your changes to the latest version and try again'

export async function update(engine: Engine, call: Call, request: UpdateRequest, attempts = 1): Promise<Written> {
  const sent = withDistinctOwners(inNamespace(call, request.object), call.warn)
  checkName(call, sent)
  await awaitReadIndex(engine, call)
  const current = engine.store.readCached(addressOf(call))
  const next = (live: LiveObject): Promise<ApiObject> =>
    workerStepsFor(engine, call)?.update(call, sent, live) ?? runWithConversions(call, () => updatedObject(call, sent, live.object))
  if (!call.resource.definition.createOnUpdate && current !== undefined) return await change(engine, call, { current, next })
  try {
    return await (current === undefined ? upsert(engine, call, { ...request, object: sent }) : change(engine, call, { current, next }))
  } catch (thrown) {
    if (!canUpsert(call) || attempts >= maxLostRaces || !isLostRace(engine, call, current, thrown)) throw thrown
    return update(engine, call, request, attempts + 1)
  }
}

/** Maximum attempts of an upsert if another writer creates or deletes the object first each time. */
export const maxLostRaces = 25

/** True if a write failed because the object was created or deleted meanwhile. Reads the store: admission may fail with the same status. */
export function isLostRace(engine: Engine, call: Call, current: StoredObject | undefined, thrown: unknown): boolean {
  if (!(thrown instanceof ApiError)) return false
  const { code, reason } = thrown.status
  const isPossible = current === undefined ? reason === 'AlreadyExists' : code === 404
  return isPossible && (current === undefined) === (engine.store.read(addressOf(call)) !== undefined)
}

export function updatedObject(call: Call, sent: ApiObject, live: ApiObject): ApiObject {
  const view = call.subresource?.view
  return toStored(call, trackManagedFields(call, { live, next: view === undefined ? sent : writeView(call, view, { sent, live }) }))
}

/** True for kinds, such as Lease, whose PUT creates a missing object. A PUT on /status or /scale never does. */
export const canUpsert = ({ resource: { definition }, subresource }: Call): boolean =>
  definition.createOnUpdate === true && subresource?.view === undefined

async function upsert(engine: Engine, call: Call, request: UpdateRequest): Promise<Written> {
  const uid = request.object.metadata?.uid
  if (uid !== undefined) throw uidConflict(call, uid, '')
  if (!canUpsert(call)) throw notFound(call.resource.subject, call.name)
  requireVersionNumber(request.object)
  // No object to compare the resourceVersion with.
  return create(engine, call, { object: withMetadata(request.object, { resourceVersion: undefined }), isUpsert: true })
}

/** 409 for a PUT with the uid of another object. */
const uidConflict = (call: Call, uid: string, found: string | undefined): ApiError =>
  conflict(call.resource.subject, call.name, `Precondition failed: UID in precondition: ${shorten(uid)}, UID in object meta: ${found}`)

export function checkName(call: Call, object: ApiObject): void {
  const name = object.metadata?.name ?? ''
  if (name === call.name) return
  if (name === '') throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`)
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`)
}

/** `isAdmitted`: the write is part of a request, such as an eviction, that passed admission as a whole. */
export interface AdmissionState {
  readonly isAdmitted?: boolean
}

interface ChangeRequest extends AdmissionState {
  readonly current: StoredObject
  /** Computes the new object, with managedFields, from the stored one. Called again after a conflict. */
  readonly next: (live: LiveObject) => ApiObject | Promise<ApiObject>
  /** A patched object has the stored uid, so its uid is not checked. */
  readonly isPatch?: boolean
}

const maxAttempts = 25

const locksOf = weakMemoize((_store: ObjectStore) => new KeyLocks())

export async function change(engine: Engine, call: Call, request: ChangeRequest): Promise<Written> {
  const locks = locksOf(engine.store)
  let lock: KeyLock | undefined
  let current: StoredObject | undefined = request.current
  try {
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      if (lock === undefined && (attempts > 0 || locks.isLocked(request.current.key))) {
        lock = locks.acquire(request.current.key)
        await call.waitFor(lock.acquired)
        await awaitReadIndex(engine, call)
        current = engine.store.readCached(addressOf(call))
      }
      if (current === undefined) throw notFound(call.resource.subject, call.name)
      await decode(engine, call, current)
      const live: ApiObject = readLive(call, current)
      const wanted = await request.next({ stored: current, object: live })
      const validated = await admitAndValidate(engine, call, { live, wanted, request, current })
      const state: CommitState = { mayBeWritten: false }
      try {
        const { gained, encoded } = validated
        const next = await converting(call, () => asStored(call, validated.object))
        if (isReadyToRemove(call, next)) {
          const finished: TerminatedOutcome = await removeTerminated(engine, call, { next, current, dryRun: isDryRun(call.options) })
          if (finished.done) return finished.written
          // A given resourceVersion conflicts in the next attempt.
          current = finished.current
          continue
        }
        if (isDryRun(call.options))
          return {
            created: false,
            result: { object: withMetadata(withUnchangedTimes(next, live), { resourceVersion: current.resourceVersion }) },
          }
        const object = withUnchangedTimes(next, live)
        const value = encoded ?? engine.store.encode(call.resource, object)
        if (engine.store.isUnchanged(current, value)) return { created: false, result: { stored: current } }
        checkObjectSize(engine, call, { next: object, value, old: { stored: current, live } })
        call.throwIfAborted()
        const { revision: expect, key }: StoredObject = current
        const uniqueKeys = uniqueKeysOfChange(engine, call, { old: live, next, gained })
        const put: CommitWith = (alongside) => engine.store.put(addressOf(call), value, { expect, uniqueKeys, alongside, object, key })
        const outcome: WriteOutcome = await commitWithQuota(engine, call, { next, old: live }, put, state)
        state.mayBeWritten = outcome.ok
        if (outcome.ok) return { created: false, result: { stored: outcome.object } }
        if (!outcome.isTaken) current = outcome.current
      } finally {
        if (!state.mayBeWritten && validated.release !== undefined) await validated.release()
      }
    }
  } finally {
    lock?.release()
  }
  throw conflict(call.resource.subject, call.name, modifiedMessage)
}

/** Decodes the stored object. A custom resource stored under an older schema is pruned and defaulted by the current one. */
export function readLive({ resource }: Call, current: StoredObject): ApiObject {
  const stored = current.decode(resource)
  return resource.definition.readStored?.(stored) ?? stored
}

/** Keeps the times in managedFields if nothing else changed, so that a no-op write stores nothing. */
export function withUnchangedTimes(next: ApiObject, live: ApiObject): ApiObject {
  const [after, before] = [next.metadata?.managedFields, live.metadata?.managedFields]
  if (after === before || after === undefined || before === undefined || !isSameButForTimes(before, after)) return next
  return isSameIgnoringManagedFields(next, live) ? withMetadata(next, { managedFields: before }) : next
}

function isSameIgnoringManagedFields(next: ApiObject, live: ApiObject): boolean {
  return (
    sameValueBut(next, live, ['metadata']) && sameValueBut(next.metadata ?? {}, live.metadata ?? {}, ['managedFields', 'resourceVersion'])
  )
}

interface ValidationInput {
  readonly live: ApiObject
  readonly wanted: ApiObject
  readonly request: ChangeRequest
  readonly current: StoredObject
}

interface ValidatedObject extends Reserved {
  /** The encoded object, if a worker thread validated it. */
  readonly encoded: Buffer | undefined
}

/** Checks preconditions, then mutating admission, preparation, validation and validating admission. */
async function admitAndValidate(engine: Engine, call: Call, input: ValidationInput): Promise<ValidatedObject> {
  const { live, wanted, request, current } = input
  checkConditions(call, input)
  const { isAdmitted = false } = request
  const old = await converting(call, () => asValidated(call, live))
  const shown = await viewOf(call, wanted)
  const admission = new AdmissionRequest(call, 'UPDATE', { object: shown, old: await viewOf(call, old) })
  const mutated = isAdmitted ? shown : ((await engine.admission.mutate(admission)) ?? shown)
  const admitted = mutated === shown ? wanted : await withView(call, wanted, inNamespace(call, mutated))
  if (!isAdmitted) await engine.checkGrant?.(call, { next: admitted, old })
  const reserved = await reserve(engine, call, { next: admitted, old, dryRun: isDryRun(call.options) })
  try {
    const object = prepare(call, reserved.object, old)
    const encoded = await validateAndEncode(engine, call, object, { stored: current, object: live })
    await engine.checkParamAccess?.(call, { next: object, old })
    if (!isAdmitted) await engine.admission.validate(admission.withObject(await viewOf(call, object)))
    return { ...reserved, object, encoded }
  } catch (thrown) {
    await reserved.release?.()
    throw thrown
  }
}

function checkConditions(call: Call, { wanted, live, request, current }: ValidationInput): void {
  const { subject, definition } = call.resource
  const uid = wanted.metadata?.uid
  if (!request.isPatch && uid !== undefined && uid !== live.metadata?.uid) {
    throw uidConflict(call, uid, live.metadata?.uid)
  }
  const version = requireVersionNumber(wanted)
  if (version !== 0n) {
    if (String(version) !== current.resourceVersion) throw conflict(subject, call.name, modifiedMessage)
  } else if (definition.versionRequiredOnUpdate && call.subresource?.view === undefined) {
    throw invalid({ ...subject, kind: subject.resource }, call.name, [
      invalidField('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
}

/** Restores the metadata that clients cannot change; then the kind's own preparation. */
function prepare(call: Call, wanted: ApiObject, live: ApiObject): ApiObject {
  const old = live.metadata ?? {}
  const restored = withMetadata(wanted, {
    uid: wanted.metadata?.uid ?? old.uid,
    resourceVersion: old.resourceVersion,
    generation: old.generation,
    creationTimestamp: old.creationTimestamp,
    // Only DELETE sets these two; validation rejects a new deletionTimestamp and a changed deletionGracePeriodSeconds.
    deletionTimestamp: old.deletionTimestamp ?? wanted.metadata?.deletionTimestamp,
    deletionGracePeriodSeconds: wanted.metadata?.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds,
    selfLink: undefined,
  })
  const rule = call.subresource === undefined ? call.resource.definition.prepareUpdate : call.subresource.prepareUpdate
  return rule?.(restored, live, call) ?? restored
}

const isReadyToRemove = (call: Call, object: ApiObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined &&
  !isDeletionBlocked(call.resource, object) &&
  (object.metadata.deletionGracePeriodSeconds ?? 0) === 0

interface TerminatedObject {
  readonly next: ApiObject
  readonly current: StoredObject
  readonly dryRun: boolean
}

type TerminatedOutcome = { readonly done: true; readonly written: Written } | { readonly done: false; readonly current: StoredObject }

async function removeTerminated(engine: Engine, call: Call, { next, current, dryRun }: TerminatedObject): Promise<TerminatedOutcome> {
  if (!dryRun) {
    call.throwIfAborted()
    const old = current.decode(call.resource)
    const released = uniqueKeysOfRemoval(engine, call, old)
    const outcome = await commitWithQuota(engine, call, { next: undefined, old }, (alongside) =>
      engine.store.remove(current, released, alongside),
    )
    if (!outcome.ok && outcome.current !== undefined) return { done: false, current: outcome.current }
  }
  return { done: true, written: { created: false, result: { object: withMetadata(next, { resourceVersion: current.resourceVersion }) } } }
}
