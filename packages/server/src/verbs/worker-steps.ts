// Steps of a write that run in a worker thread when the input is large.

import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { EvaluateInWorker } from '../admission/validating-admission-policy/validating-admission-policy.js'
import type { StoredObject } from '../objects/entry/stored-object.js'

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

export interface LiveObject {
  readonly stored: StoredObject
  readonly object: ApiObject
}

export interface WorkerSteps {
  /** The object that a POST creates, with managedFields, in the storage version. */
  create(call: Call, sent: ApiObject): Promise<ApiObject>
  update(call: Call, sent: ApiObject, live: LiveObject): Promise<ApiObject>
  /** The patched object. Without `live`: the object that an apply creates. */
  patch(call: Call, patch: EncodedPatch, live: LiveObject | undefined): Promise<ApiObject>
  /** Validates and encodes for the store. Rejects with 422. */
  check(call: Call, next: ApiObject, live: LiveObject | undefined): Promise<Buffer>
  encode(call: Call, object: ApiObject): Promise<Buffer>
  readonly evaluatePolicy: EvaluateInWorker
}

export interface EncodedPatch {
  readonly type: PatchType
  readonly bytes: Uint8Array
}
