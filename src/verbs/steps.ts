// The pure steps of a write. A step on a large input runs in a worker thread and is awaited like any other; all others run on the event loop.
//
// A step is a function of its inputs: bytes, objects and the call. It reads no store, knows no user, and commits nothing.

import type { EvaluateInWorker } from '../admission/policy/evaluate-policy.js'
import type { Call } from '../api/call.js'
import type { ApiObject } from '../api/object.js'
import { nowOrInPieces, Pieces } from '../base/pieces.js'
import type { StoredObject } from '../objects/stored-object.js'
import { checkWrite } from './check-write.js'
import type { Engine } from './engine.js'
import type { PatchType } from './patch.js'

/** The object that a write changes, as it is stored and as rules read it. */
export interface LiveObject {
  readonly stored: StoredObject
  readonly object: ApiObject
}

/** Where steps on large inputs run. */
export interface Steps {
  /** The object that a POST creates, with managedFields, in the stored version. */
  create(call: Call, sent: ApiObject): Promise<ApiObject>
  /** The object that a PUT makes of the live one. */
  update(call: Call, sent: ApiObject, live: LiveObject): Promise<ApiObject>
  /** The object that a patch makes of the live one; without one, the object that an apply creates. */
  patch(call: Call, patch: EncodedPatch, live: LiveObject | undefined): Promise<ApiObject>
  /** Validates, and encodes for the store. Rejects with a 422. */
  check(call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer>
  encode(call: Call, object: ApiObject): Promise<Buffer>
  readonly evaluatePolicy: EvaluateInWorker
}

/** A patch as its client sent it. */
export interface EncodedPatch {
  readonly type: PatchType
  readonly bytes: Uint8Array
}

/** To decode a large object takes 50 ms: however many requests do so, each has a turn of the event loop of its own. */
export const nextTurn = (): Promise<void> => new Pieces().next()

/** The worker threads, if the inputs of this call are large. */
export const stepsFor = ({ steps }: Engine, call: Call): Steps | undefined => (call.isLarge ? steps : undefined)

/** Rejects with a 422 if the object is invalid. Returns the encoded object if that was part of the step. */
export async function check(engine: Engine, call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer | undefined> {
  const isCostly = call.resource.definition.isCostlyToValidate?.(next, call.bytes) ?? false
  const steps = isCostly ? engine.steps : stepsFor(engine, call)
  if (steps !== undefined) return steps.check(call, next, live)
  const checking = nowOrInPieces(checkWrite(call, next, live?.object), new Pieces(() => call.throwIfAborted()))
  if (checking instanceof Promise) await checking
  return undefined
}

export const encode = (engine: Engine, call: Call, object: ApiObject): Buffer | Promise<Buffer> =>
  stepsFor(engine, call)?.encode(call, object) ?? engine.store.encode(call.resource, object)
