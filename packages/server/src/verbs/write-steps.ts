// Pure steps of a write: decode, validate, encode, check the size. On large inputs they run in a worker thread.
// A step reads no store, knows no user and commits nothing.

import { invalid, requestEntityTooLarge } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { type FieldError, tooLong } from '@cluster-apiserver/api/api/field-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { validateChange, validateCreation } from '@cluster-apiserver/api/api/validation/validate-write.js'
import { maxObjectBytes, objectHeadroomBytes } from '@cluster-apiserver/api/base/size-limits.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import { maxNameBytes } from '../objects/object-keys.js'
import type { Engine } from './engine.js'
import { asValidated, converting, prepareDecode } from './version-conversion.js'
import type { LiveObject, WorkerSteps } from './worker-steps.js'

export const workerStepsFor = ({ steps }: Engine, call: Call): WorkerSteps | undefined => (call.isLarge ? steps : undefined)

/** Rejects with 422 if the object is invalid. Returns the encoded object if a worker thread validated it. */
export async function validateAndEncode(
  engine: Engine,
  call: Call,
  next: ApiObject,
  live: LiveObject | undefined,
): Promise<Buffer | undefined> {
  const isCostly = call.resource.definition.isCostlyToValidate?.(next, call.bytes) ?? false
  const steps = isCostly ? engine.steps : workerStepsFor(engine, call)
  if (steps !== undefined) return steps.check(call, next, live)
  const old = live && (await converting(call, () => asValidated(call, live.object)))
  await validateWrite(call, next, old, engine.store.budget)
  return undefined
}

export const encode = async (engine: Engine, call: Call, object: ApiObject): Promise<Buffer> =>
  workerStepsFor(engine, call)?.encode(call, object) ?? engine.store.encode(call.resource, object)

/** Decodes a stored object. Yields to the event loop before a large one, which may take 50 ms. */
export async function decode(engine: Engine, call: Call, stored: StoredObject): Promise<ApiObject> {
  call.noteBytes(stored.entry.value)
  if (call.isLarge) await engine.store.budget.nextTurn()
  if (call.resource.conversion !== undefined) await call.waitFor(prepareDecode(stored, call.resource))
  return stored.decode(call.resource)
}

/** Rejects with 422 and all errors. `live`: undefined for a new object. */
export async function validateWrite(call: Call, next: ApiObject, live: ApiObject | undefined, budget = turnBudget): Promise<void> {
  const { definition, invalidSubject } = call.resource
  const errors = live === undefined ? creationErrors(call, next) : changeErrors(call, next, live)
  const found = [...errors]
  const expressions = definition.expressions?.(next, live, call, errors)
  for (let step = expressions?.next(); step !== undefined; step = step.done === true ? undefined : expressions?.next()) {
    if (step.done === true) found.push(...step.value)
    else if (budget.isSpent) await budget.nextTurn()
    call.throwIfAborted()
  }
  if (found.length > 0) throw invalid(invalidSubject, next.metadata?.name ?? '', found)
  // No warnings for writes to /status: controllers write it often and cannot fix the spec.
  if (live !== undefined && call.subresource !== undefined && call.subresource.view === undefined) return
  for (const warning of definition.warnings?.(next, live, call) ?? []) call.warn(warning)
}

function creationErrors(call: Call, object: ApiObject): readonly FieldError[] {
  const found = validateCreation(call.resource.definition, object, call)
  return isNameShort(object) ? found : [...found, ...longNameErrors(call, object)]
}

function changeErrors(call: Call, next: ApiObject, old: ApiObject): readonly FieldError[] {
  const { subresource, resource } = call
  return validateChange(resource.definition, { next, old, ...(subresource === undefined ? {} : { subresource }) }, call)
}

const isNameShort = ({ metadata }: ApiObject): boolean => (metadata?.name?.length ?? 0) <= 253

/** Names of RBAC kinds have no limit but the length of a storage key. */
function longNameErrors({ resource, namespace }: Call, { metadata }: ApiObject): readonly FieldError[] {
  const maxBytes = maxNameBytes(resource, namespace)
  return Buffer.byteLength(metadata?.name ?? '') > maxBytes ? [tooLong('metadata.name', maxBytes)] : []
}

interface SizedObject {
  readonly next: ApiObject
  readonly value: Buffer
  readonly old?: { readonly stored: StoredObject; readonly live: ApiObject }
}

/**
 * Throws 413 above the limit, managedFields included; it is higher for writes to subresources and terminating objects.
 * An object already above the limit may be updated if it does not grow.
 */
export function checkObjectSize(engine: Engine, call: Call, { next, value, old }: SizedObject): void {
  const bytes = value.length
  if (bytes <= maxObjectBytes) return
  const maxBytes = maxObjectBytes + (hasHeadroom(call, old?.live) ? objectHeadroomBytes : 0)
  if (bytes <= maxBytes) return
  // Encoded again: the stored entry may have another format or version, and so another size.
  if (old !== undefined && bytes <= Math.max(old.stored.entry.value.length, engine.store.encode(call.resource, old.live).length)) return
  const managedFieldsBytes = Buffer.byteLength(JSON.stringify(next.metadata?.managedFields ?? []))
  throw requestEntityTooLarge(
    `the object with its metadata.managedFields would have ${bytes} bytes, ${managedFieldsBytes} of them managedFields; limit is ${maxBytes}. ` +
      'Keep less in it, or have fewer field managers: an update with managedFields: [{}] removes all of them',
  )
}

const hasHeadroom = ({ subresource }: Call, live: ApiObject | undefined): boolean =>
  live !== undefined && (subresource !== undefined || live.metadata?.deletionTimestamp !== undefined)
