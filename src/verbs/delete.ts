// DELETE on one object: at once, or as far as its finalizers allow.

import { AdmissionRequest } from '../admission/admission.js'
import { type ApiError, conflict, forbidden, notFound } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import type { DeleteOptions } from '../api/options/delete-options.js'
import { isDryRun } from '../api/options/write-options.js'
import { shorten } from '../base/shorten.js'
import type { StoredObject } from '../objects/stored-object.js'
import { planDeletion, warnOfOrphans } from './deletion.js'
import { accounted, addressOf, type Engine, upToDate, type WrittenObject } from './engine.js'
import { uniqueKeysOfRemoval } from './reserve.js'
import { encode, nextTurn } from './steps.js'
import { modifiedMessage } from './update.js'
import { readyToDecode } from './versions.js'

/** `removed` is false while something still holds the object. */
export interface Deleted {
  readonly removed: boolean
  readonly result: WrittenObject
}

const maxAttempts = 25

/** A part of something larger that was admitted as a whole is not admitted again. */
export interface Admitted {
  readonly isAdmitted?: boolean
}

export async function remove(engine: Engine, call: Call, { isAdmitted = false }: Admitted = {}): Promise<Deleted> {
  warnOfOrphans(call)
  const waiting = upToDate(engine, call)
  if (waiting !== undefined) await waiting
  let current = engine.store.read(addressOf(call))
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    if (current === undefined) throw notFound(call.resource.subject, call.name)
    const outcome = await removeOnce(engine, call, { current, isAdmitted })
    if (outcome.done) return outcome.deleted
    current = outcome.current
  }
  throw conflict(call.resource.subject, call.name, modifiedMessage)
}

type Attempted = { readonly done: true; readonly deleted: Deleted } | { readonly done: false; readonly current: StoredObject | undefined }

interface Removal {
  readonly current: StoredObject
  readonly isAdmitted: boolean
}

async function removeOnce(engine: Engine, call: Call, { current, isAdmitted }: Removal): Promise<Attempted> {
  const { options } = call
  call.noteBytes(current.entry.value)
  if (call.isLarge) await nextTurn()
  const unread = readyToDecode(current, call.resource)
  if (unread !== undefined) await call.waitFor(unread)
  const live = current.decode(call.resource)
  checkPreconditions(call, live, options)
  const problem = call.resource.definition.deleteProblem?.(live)
  if (problem !== undefined) throw forbidden(call.resource.subject, call.name, problem)
  if (!isAdmitted) await admit(engine, call, live)
  const { object, stays } = planDeletion(call, live, engine.ignoresDependents)
  if (stays) return hold(engine, call, { current, marked: object })
  if (isDryRun(options)) return { done: true, deleted: { removed: true, result: { object } } }
  call.throwIfAborted()
  // What is marked before it goes is stored so first: watchers see that it was deleted, and then that it is gone.
  const value = object === live ? undefined : await encode(engine, call, object)
  const last =
    value === undefined
      ? ({ ok: true, object: current } as const)
      : await engine.store.put(addressOf(call), value, { expect: current.revision })
  if (!last.ok) return { done: false, current: last.current }
  const released = uniqueKeysOfRemoval(engine, call, live)
  const outcome = await accounted(engine, call, { next: undefined, old: live }, (alongside) =>
    engine.store.remove(last.object, released, alongside),
  )
  if (!outcome.ok) return { done: false, current: outcome.current }
  return { done: true, deleted: { removed: true, result: { stored: outcome.object } } }
}

interface Holding {
  readonly current: StoredObject
  readonly marked: ApiObject
}

/** The object stays, marked as going. */
async function hold(engine: Engine, call: Call, { current, marked }: Holding): Promise<Attempted> {
  if (isDryRun(call.options)) return { done: true, deleted: { removed: false, result: { object: marked } } }
  const value = await encode(engine, call, marked)
  if (engine.store.holds(current, value)) return { done: true, deleted: { removed: false, result: { stored: current } } }
  call.throwIfAborted()
  const outcome = await engine.store.put(addressOf(call), value, { expect: current.revision })
  if (!outcome.ok) return { done: false, current: outcome.current }
  return { done: true, deleted: { removed: false, result: { stored: outcome.object } } }
}

export function checkPreconditions(call: Call, { metadata }: ApiObject, { preconditions }: DeleteOptions): void {
  if (preconditions === undefined) return
  const { uid, resourceVersion } = preconditions
  if (uid !== undefined && uid !== metadata?.uid)
    throw unmet(call, { what: 'UID', wanted: uid, found: metadata?.uid, might: 'deleted and then recreated' })
  if (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion)
    throw unmet(call, { what: 'ResourceVersion', wanted: resourceVersion, found: metadata?.resourceVersion, might: 'modified' })
}

interface Unmet {
  readonly what: string
  readonly wanted: string
  readonly found: string | undefined
  /** What may have happened to the object. */
  readonly might: string
}

/** Most kinds are named as in errors of validation; those that others depend on, as the collection that they are. */
function unmet({ resource, name }: Call, { what, wanted, found, might }: Unmet): ApiError {
  const asked = shorten(wanted)
  if (resource.definition.holdsOthers)
    return conflict(resource.subject, name, `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`)
  const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been ${might}`
  return conflict({ ...resource.invalidSubject, resource: resource.kind }, name, why)
}

async function admit(engine: Engine, call: Call, live: ApiObject): Promise<void> {
  const request = new AdmissionRequest(call, 'DELETE', { object: undefined, old: live })
  await engine.admission.mutate(request)
  await engine.admission.validate(request)
}
