// DELETE of one object, which stays while it has finalizers or a grace period, and of a collection.

import { ApiError, conflict, forbidden, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { DeleteOptions } from '@cluster-apiserver/api/api/options/delete-options.js'
import type { ListOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { AdmissionRequest } from '../admission/admission-plugin.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { type KeyParts, partsOf } from '../objects/object-keys.js'
import { planDeletion, warnOfOrphans } from './deletion-finalizers.js'
import { addressOf, awaitReadIndex, committed, commitWithQuota, type Engine, type WrittenObject } from './engine.js'
import { list } from './list.js'
import { uniqueKeysOfRemoval } from './reserve/reserve.js'
import { type AdmissionState, modifiedMessage } from './update.js'
import { asValidated, converting } from './version-conversion.js'
import { decode, encode } from './write-steps.js'

/** `removed` is false while finalizers or a grace period keep the object. */
interface Deleted {
  readonly removed: boolean
  readonly result: WrittenObject
}

const maxAttempts = 25

export async function remove(engine: Engine, call: Call, { isAdmitted = false }: AdmissionState = {}): Promise<Deleted> {
  warnOfOrphans(call)
  await awaitReadIndex(engine, call)
  let current = engine.store.read(addressOf(call))
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    if (current === undefined) throw notFound(call.resource.subject, call.name)
    const outcome = await removeOnce(engine, call, { current, isAdmitted })
    if (outcome.done) return outcome.deleted
    current = outcome.current
  }
  throw conflict(call.resource.subject, call.name, modifiedMessage)
}

type RemovalAttempt =
  | { readonly done: true; readonly deleted: Deleted }
  | { readonly done: false; readonly current: StoredObject | undefined }

interface Removal {
  readonly current: StoredObject
  readonly isAdmitted: boolean
}

async function removeOnce(engine: Engine, call: Call, { current, isAdmitted }: Removal): Promise<RemovalAttempt> {
  const { options } = call
  const live = await decode(engine, call, current)
  checkPreconditions(call, live, options)
  const problem = call.resource.definition.deleteProblem?.(live)
  if (problem !== undefined) throw forbidden(call.resource.subject, call.name, problem)
  if (!isAdmitted) await admit(engine, call, live)
  const { object, stays } = planDeletion(call, live, engine.ignoresDependents)
  if (stays) return markTerminating(engine, call, { current, terminating: object })
  if (isDryRun(options)) return { done: true, deleted: { removed: true, result: { object } } }
  // The deletionTimestamp is stored before the removal, so that watchers see both.
  const value = object === live ? undefined : await encode(engine, call, object)
  call.throwIfAborted()
  const last =
    value === undefined
      ? ({ ok: true, object: current } as const)
      : await committed(engine, call, engine.store.put(addressOf(call), value, { expect: current.revision }))
  if (!last.ok) return { done: false, current: last.current }
  const released = uniqueKeysOfRemoval(engine, call, live)
  const outcome = await commitWithQuota(engine, call, { next: undefined, old: live }, (alongside) =>
    engine.store.remove(last.object, released, alongside),
  )
  if (!outcome.ok) return { done: false, current: outcome.current }
  return { done: true, deleted: { removed: true, result: { stored: outcome.object } } }
}

interface TerminatingObject {
  readonly current: StoredObject
  readonly terminating: ApiObject
}

async function markTerminating(engine: Engine, call: Call, { current, terminating }: TerminatingObject): Promise<RemovalAttempt> {
  if (isDryRun(call.options)) return { done: true, deleted: { removed: false, result: { object: terminating } } }
  const value = await encode(engine, call, terminating)
  if (engine.store.isUnchanged(current, value)) return { done: true, deleted: { removed: false, result: { stored: current } } }
  call.throwIfAborted()
  const outcome = await committed(engine, call, engine.store.put(addressOf(call), value, { expect: current.revision }))
  if (!outcome.ok) return { done: false, current: outcome.current }
  return { done: true, deleted: { removed: false, result: { stored: outcome.object } } }
}

export function checkPreconditions(call: Call, { metadata }: ApiObject, { preconditions }: DeleteOptions): void {
  if (preconditions === undefined) return
  const { uid, resourceVersion } = preconditions
  if (uid !== undefined && uid !== metadata?.uid)
    throw preconditionFailed(call, { field: 'UID', wanted: uid, found: metadata?.uid, possibleCause: 'deleted and then recreated' })
  if (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion)
    throw preconditionFailed(call, {
      field: 'ResourceVersion',
      wanted: resourceVersion,
      found: metadata?.resourceVersion,
      possibleCause: 'modified',
    })
}

interface FailedPrecondition {
  readonly field: string
  readonly wanted: string
  readonly found: string | undefined
  readonly possibleCause: string
}

/** kube-apiserver has two messages: one for namespaces and the like, which contain objects, and one for all other kinds. */
function preconditionFailed({ resource, name }: Call, { field, wanted, found, possibleCause }: FailedPrecondition): ApiError {
  const shown = shorten(wanted)
  if (resource.definition.containsObjects)
    return conflict(resource.subject, name, `Precondition failed: ${field} in precondition: ${shown}, ${field} in object meta: ${found}`)
  const message = `the ${field} in the precondition (${shown}) does not match the ${field} in record (${found}). The object might have been ${possibleCause}`
  return conflict({ ...resource.invalidSubject, resource: resource.kind }, name, message)
}

async function admit(engine: Engine, call: Call, live: ApiObject): Promise<void> {
  const old = await converting(call, () => asValidated(call, live))
  const request = new AdmissionRequest(call, 'DELETE', { object: undefined, old })
  await engine.admission.mutate(request)
  await engine.admission.validate(request)
}

const defaultWorkers = 16

/** DELETE of a collection: deletes every object that a list with the same options returns, each on its own. */
export async function removeCollection(engine: Engine, call: Call, listed: ListOptions): Promise<void> {
  warnOfOrphans(call)
  const page = await list(engine, call, listed)
  // Keeps keys only: the objects together may not fit into memory.
  const keys: KeyParts[] = []
  for await (const batch of page.batches()) for (const { key } of batch) keys.push(partsOf(call.resource, key))
  // After an error no further delete starts; those in progress are awaited.
  await inParallel(keys, engine.deletionWorkers ?? defaultWorkers, async (key) => {
    call.throwIfAborted()
    await removeIfPresent(engine, call.with(key))
  })
}

/** Ignores 404: another request deleted the object first. */
async function removeIfPresent(engine: Engine, call: Call): Promise<void> {
  try {
    await remove(engine, call)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
