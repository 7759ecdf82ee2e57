// PUT: an object replaced, or one of its subresources written. Also the second half of every patch: a change is computed
// from what is stored, checked, and committed if nothing came between; if something did, it is computed again.

import { AdmissionRequest } from '../admission/admission.js'
import type { CommitWith } from '../admission/quota/ledger.js'
import { type ApiError, badRequest, conflict, invalid, notFound } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import { invalid as invalidField } from '../api/field-error.js'
import { type ApiObject, withMetadata } from '../api/object.js'
import { isDryRun } from '../api/options/write-options.js'
import { withDistinctOwners } from '../api/validation/owner-references.js'
import { sameValueBut } from '../api/validation/same-value.js'
import { onceFor } from '../base/once-for.js'
import type { Promised } from '../base/promised.js'
import { shorten } from '../base/shorten.js'
import type { ObjectStore, WriteOutcome } from '../objects/object-store.js'
import type { StoredObject } from '../objects/stored-object.js'
import { isSameButForTimes } from '../patch/managed-entries.js'
import { create, inNamespace } from './create.js'
import type { Admitted } from './delete.js'
import { isHeld } from './deletion.js'
import { accounted, addressOf, type Engine, type Fate, upToDate, type Written } from './engine.js'
import { KeyTurns, type Turn } from './key-turns.js'
import { track } from './managed-fields.js'
import { isOvertaken, maxOvertaken } from './overtaken.js'
import { refuseOversize } from './refuse-oversize.js'
import { type Reserved, reserve, uniqueKeysOfChange, uniqueKeysOfRemoval } from './reserve.js'
import { check, type LiveObject, nextTurn, stepsFor } from './steps.js'
import { converting, readyToDecode, toStored } from './versions.js'
import { shownOf, withShown, writeView } from './view.js'

export interface UpdateRequest {
  readonly object: ApiObject
}

export const modifiedMessage = 'the object has been modified; please apply your changes to the latest version and try again'

export async function update(engine: Engine, call: Call, request: UpdateRequest, attempts = 1): Promise<Written> {
  const sent = withDistinctOwners(inNamespace(call, request.object), call.warn)
  checkName(call, sent)
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  const current = engine.store.readOften(addressOf(call))
  const next = (live: LiveObject): Promised<ApiObject> =>
    stepsFor(engine, call)?.update(call, sent, live) ?? converting(call, () => updatedObject(call, sent, live.object))
  if (!call.resource.definition.createOnUpdate && current !== undefined) return await change(engine, call, { current, next })
  try {
    return await (current === undefined
      ? createInstead(engine, call, { ...request, object: sent })
      : change(engine, call, { current, next }))
  } catch (thrown) {
    if (!mayCreate(call) || attempts >= maxOvertaken || !isOvertaken(engine, call, current, thrown)) throw thrown
    return update(engine, call, request, attempts + 1)
  }
}

/** The sent object in the stored version, with managedFields. */
export function updatedObject(call: Call, sent: ApiObject, live: ApiObject): ApiObject {
  const view = call.subresource?.view
  return toStored(call, track(call, { live, next: view === undefined ? sent : writeView(call, view, { sent, live }) }))
}

/** Some kinds take a PUT on a name that nobody has for a creation; one on a part of the object, such as its status, is no other PUT. */
export const mayCreate = ({ resource: { definition }, subresource }: Call): boolean =>
  definition.createOnUpdate === true && subresource?.view === undefined

/** A PUT on a name that nobody has. */
function createInstead(engine: Engine, call: Call, request: UpdateRequest): Promise<Written> {
  const uid = request.object.metadata?.uid
  if (uid !== undefined) throw otherUid(call, uid, '')
  if (!mayCreate(call)) throw notFound(call.resource.subject, call.name)
  // What a version would be compared with is not there, so that it is no condition.
  return create(engine, call, { object: withMetadata(request.object, { resourceVersion: undefined }), isByTheWay: true })
}

/** A PUT that names a uid is for that object alone. */
const otherUid = (call: Call, uid: string, found: string | undefined): ApiError =>
  conflict(call.resource.subject, call.name, `Precondition failed: UID in precondition: ${shorten(uid)}, UID in object meta: ${found}`)

export function checkName(call: Call, object: ApiObject): void {
  const name = object.metadata?.name ?? ''
  if (name === call.name) return
  if (name === '') throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`)
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`)
}

export interface ChangeRequest extends Admitted {
  readonly current: StoredObject
  /** From the stored object to the wanted one, managed fields included. Called again when somebody else was quicker. */
  readonly next: (live: LiveObject) => Promised<ApiObject>
  /** A patch brings the stored uid and version along; only what it says itself can differ from them. */
  readonly isPatch?: boolean
}

const maxAttempts = 25

const turnsAt = onceFor((_store: ObjectStore) => new KeyTurns())

export async function change(engine: Engine, call: Call, request: ChangeRequest): Promise<Written> {
  const turns = turnsAt(engine.store)
  /** Set where many change it at once. */
  let turn: Turn | undefined
  let current: StoredObject | undefined = request.current
  try {
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      if (turn === undefined && (attempts > 0 || turns.areTaken(request.current.key))) {
        turn = turns.take(request.current.key)
        await call.waitFor(turn.begun)
        const waiting = upToDate(engine, call)
        if (waiting !== undefined) await waiting
        current = engine.store.readOften(addressOf(call))
      }
      if (current === undefined) throw notFound(call.resource.subject, call.name)
      call.noteBytes(current.entry.value)
      if (call.isLarge) await nextTurn()
      const unread = readyToDecode(current, call.resource)
      if (unread !== undefined) await call.waitFor(unread)
      const live: ApiObject = readLive(call, current)
      const wanted = request.next({ stored: current, object: live })
      const shaping = { live, wanted: wanted instanceof Promise ? await wanted : wanted, request, current }
      const shaped = await shape(engine, call, shaping)
      const fate: Fate = { mayBeWritten: false }
      try {
        const { object: next, gained, encoded } = shaped
        if (isFinished(call, next)) {
          const finished: Finished = await removeFinished(engine, call, { next, current, dryRun: isDryRun(call.options) })
          if (finished.done) return finished.written
          // Who named a version meets the conflict in the next round.
          current = finished.current
          continue
        }
        if (isDryRun(call.options))
          return {
            created: false,
            result: { object: withMetadata(keepingTimes(next, live), { resourceVersion: current.resourceVersion }) },
          }
        const object = keepingTimes(next, live)
        const value = encoded ?? engine.store.encode(call.resource, object)
        if (engine.store.holds(current, value)) return { created: false, result: { stored: current } }
        refuseOversize(engine, call, { next: object, value, old: { stored: current, live } })
        call.throwIfAborted()
        const { revision: expect, key }: StoredObject = current
        const uniqueKeys = uniqueKeysOfChange(engine, call, { old: live, next, gained })
        const put: CommitWith = (alongside) => engine.store.put(addressOf(call), value, { expect, uniqueKeys, alongside, object, key })
        const outcome: WriteOutcome = await accounted(engine, call, { next, old: live }, put, fate)
        fate.mayBeWritten = outcome.ok
        if (outcome.ok) return { created: false, result: { stored: outcome.object } }
        if (!outcome.isTaken) current = outcome.current
      } finally {
        if (!fate.mayBeWritten && shaped.release !== undefined) await shaped.release()
      }
    }
  } finally {
    turn?.end()
  }
  throw conflict(call.resource.subject, call.name, modifiedMessage)
}

/** Rules compare a change with what clients see. */
export function readLive({ resource }: Call, current: StoredObject): ApiObject {
  const stored = current.decode(resource)
  return resource.definition.readStored?.(stored) ?? stored
}

/** Field managers whose fields did not change keep their times. */
export function keepingTimes(next: ApiObject, live: ApiObject): ApiObject {
  const [after, before] = [next.metadata?.managedFields, live.metadata?.managedFields]
  if (after === before || after === undefined || before === undefined || !isSameButForTimes(before, after)) return next
  return isSameOtherwise(next, live) ? withMetadata(next, { managedFields: before }) : next
}

/** Whether a write changes anything that somebody could own. */
function isSameOtherwise(next: ApiObject, live: ApiObject): boolean {
  return (
    sameValueBut(next, live, ['metadata']) && sameValueBut(next.metadata ?? {}, live.metadata ?? {}, ['managedFields', 'resourceVersion'])
  )
}

interface Shaping {
  readonly live: ApiObject
  readonly wanted: ApiObject
  readonly request: ChangeRequest
  readonly current: StoredObject
}

interface Shaped extends Reserved {
  /** The object as bytes for the store, if the worker thread that validated it encoded it, too. */
  readonly encoded: Buffer | undefined
}

/** Conditions, admission, preparation and validation: from what the client wants to what may be stored. */
async function shape(engine: Engine, call: Call, shaping: Shaping): Promise<Shaped> {
  const { live, wanted, request, current } = shaping
  checkConditions(call, shaping)
  const { isAdmitted = false } = request
  const showing = shownOf(call, wanted)
  const shown = showing instanceof Promise ? await showing : showing
  const showingOld = shownOf(call, live)
  const admission = new AdmissionRequest(call, 'UPDATE', {
    object: shown,
    old: showingOld instanceof Promise ? await showingOld : showingOld,
  })
  const pending = isAdmitted ? shown : engine.admission.mutate(admission)
  const mutated = (pending instanceof Promise ? await pending : pending) ?? shown
  const written = mutated === shown ? wanted : withShown(call, wanted, inNamespace(call, mutated))
  const admitted = written instanceof Promise ? await written : written
  const granted = isAdmitted ? undefined : engine.checkGrant?.(call, { next: admitted, old: live })
  if (granted !== undefined) await granted
  const taking = reserve(engine, call, { next: admitted, old: live, dryRun: isDryRun(call.options) })
  const reserved = taking instanceof Promise ? await taking : taking
  try {
    const object = prepare(call, reserved.object, live)
    const encoded = await check(engine, call, object, { stored: current, object: live })
    const authorizing = engine.checkParamAccess?.(call, { next: object, old: live })
    if (authorizing !== undefined) await authorizing
    if (!isAdmitted) {
      const showingNext = shownOf(call, object)
      const next = showingNext instanceof Promise ? await showingNext : showingNext
      const checked = engine.admission.validate(admission.withObject(next))
      if (checked instanceof Promise) await checked
    }
    return { ...reserved, object, encoded }
  } catch (thrown) {
    await reserved.release?.()
    throw thrown
  }
}

function checkConditions(call: Call, { wanted, live, request, current }: Shaping): void {
  const { subject, definition } = call.resource
  const uid = wanted.metadata?.uid
  if (!request.isPatch && uid !== undefined && uid !== live.metadata?.uid) {
    throw otherUid(call, uid, live.metadata?.uid)
  }
  const version = wanted.metadata?.resourceVersion ?? '0'
  if (!/^\d+$/.test(version))
    throw badRequest(
      `metadata.resourceVersion: the value ${JSON.stringify(shorten(version))} is not a version of this server: a whole number is expected`,
    )
  if (version !== '0') {
    if (version !== current.resourceVersion) throw conflict(subject, call.name, modifiedMessage)
  } else if (definition.versionRequiredOnUpdate && call.subresource?.view === undefined) {
    throw invalid({ ...subject, kind: subject.resource }, call.name, [
      invalidField('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
}

/** What a client cannot change is as it was; then the kind's own preparation. */
function prepare(call: Call, wanted: ApiObject, live: ApiObject): ApiObject {
  const old = live.metadata ?? {}
  const kept = withMetadata(wanted, {
    uid: wanted.metadata?.uid ?? old.uid,
    resourceVersion: old.resourceVersion,
    generation: old.generation,
    creationTimestamp: old.creationTimestamp,
    // Only a DELETE sets these: what goes stays so, and whoever says it of what does not go is refused.
    deletionTimestamp: old.deletionTimestamp ?? wanted.metadata?.deletionTimestamp,
    deletionGracePeriodSeconds: wanted.metadata?.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds,
    selfLink: undefined,
  })
  const rule = call.subresource === undefined ? call.resource.definition.prepareUpdate : call.subresource.prepareUpdate
  return rule?.(kept, live, call) ?? kept
}

/** An object that is being deleted goes with its last finalizer. */
const isFinished = (call: Call, object: ApiObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined &&
  !isHeld(call.resource, object) &&
  (object.metadata.deletionGracePeriodSeconds ?? 0) === 0

interface Finishing {
  readonly next: ApiObject
  readonly current: StoredObject
  readonly dryRun: boolean
}

type Finished = { readonly done: true; readonly written: Written } | { readonly done: false; readonly current: StoredObject }

async function removeFinished(engine: Engine, call: Call, { next, current, dryRun }: Finishing): Promise<Finished> {
  if (!dryRun) {
    call.throwIfAborted()
    const old = current.decode(call.resource)
    const released = uniqueKeysOfRemoval(engine, call, old)
    const outcome = await accounted(engine, call, { next: undefined, old }, (alongside) =>
      engine.store.remove(current, released, alongside),
    )
    if (!outcome.ok && outcome.current !== undefined) return { done: false, current: outcome.current }
  }
  return { done: true, written: { created: false, result: { object: withMetadata(next, { resourceVersion: current.resourceVersion }) } } }
}
