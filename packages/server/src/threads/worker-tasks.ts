// The messages between the event loop and the worker threads: one pure step, and its result.

import type { StatusBody } from '../../api/api-error.js'
import type { CallOptions } from '../../api/call.js'
import type { ConversionVersions } from '../../api/conversion.js'
import type { IdentityName } from '../../api/identity.js'
import type { FormWish } from '../../codec/item-form.js'
import type { WrittenText } from '../../codec/list-text.js'
import type { Representation } from '../../codec/negotiation.js'
import type { SentBody } from '../../http/decode-sent.js'
import type { Entry } from '../../storage/storage.js'
import type { EncodedPatch } from '../../verbs/steps.js'

/** All that a worker thread knows of the server: what the rules of kinds depend on. */
export interface WorkerSettings {
  readonly identity: IdentityName
  /** The texts of --feature-gates and --runtime-config. */
  readonly featureGates: readonly string[]
  readonly runtimeConfig: readonly string[]
  readonly forbidsPrivileged: boolean
  readonly allowsPlainHooks: boolean
}

/** An object as JSON, which is the quickest to send; one with a bigint, which JSON cannot tell from a double, as it is. */
export type Packed = string | object

export function pack(object: object): Packed {
  try {
    return JSON.stringify(object)
  } catch (thrown) {
    if (thrown instanceof TypeError) return object
    throw thrown
  }
}

export const unpack = <T extends object>(packed: Packed): T => (typeof packed === 'string' ? JSON.parse(packed) : packed) as T

/** What a step knows of its request: neither the user nor the headers, but for the program that becomes the field manager. */
export interface RequestContext {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
  readonly now: number
  readonly userAgent: string
  /** A CustomResourceDefinition, with another number for each version of it. */
  readonly custom: { readonly id: number; readonly source: Packed } | undefined
  /** Conversions by a webhook that the step needed before: see verbs/versions. */
  readonly conversions: readonly (readonly [key: string, object: Packed])[]
}

/** A stored object: its entry, or the object in the stored version if a webhook had to convert it. */
export type LiveInput = { readonly entry: Entry } | { readonly object: Packed }

interface OnCall<Name extends string> {
  readonly step: Name
  readonly call: RequestContext
}

export type Step =
  | (OnCall<'decode'> & { readonly body: SentBody })
  | (OnCall<'create' | 'encode'> & { readonly object: Packed })
  | (OnCall<'update'> & { readonly object: Packed; readonly live: LiveInput })
  | (OnCall<'patch'> & { readonly patch: EncodedPatch; readonly live: LiveInput | undefined })
  | (OnCall<'check'> & { readonly object: Packed; readonly live: LiveInput | undefined })
  | (OnCall<'item'> & { readonly wish: FormWish; readonly live: LiveInput })
  | (OnCall<'represent'> & { readonly object: Packed; readonly representation: Representation; readonly includeObject: string | undefined })
  /** A ValidatingAdmissionPolicy and the variables of its expressions. */
  | { readonly step: 'policy'; readonly policy: string; readonly variables: Packed }
  | { readonly step: 'text'; readonly text: WrittenText }

/** The result must carry the id of its task. */
export interface Task {
  readonly id: string
  readonly step: Step
}

export interface TaskResult {
  readonly id: string
  /** Texts of `Warning` headers. */
  readonly warnings: readonly string[]
  readonly output?: { readonly object?: Packed; readonly bytes?: Uint8Array; readonly contentType?: string }
  /** An error on its way between threads. */
  readonly failure?: Failure
}

export interface Failure {
  readonly message: string
  readonly stack: string | undefined
  /** Of an ApiError. */
  readonly status?: StatusBody
  /** The step needs a conversion by a webhook; it is run again with it. */
  readonly unconverted?: { readonly object: Packed; readonly versions: ConversionVersions; readonly key: string }
}
