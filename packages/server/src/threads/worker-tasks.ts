// Messages between the event loop and the worker threads: a step and its result.

import type { StatusBody } from '@cluster-apiserver/api/api/api-error.js'
import type { CallOptions } from '@cluster-apiserver/api/api/call.js'
import type { ConversionVersions } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { IdentityName } from '@cluster-apiserver/api/api/identity.js'
import type { Representation } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { EncodingChoice } from '@cluster-apiserver/api/codec/item-encoding.js'
import type { ListText } from '@cluster-apiserver/api/codec/pretty-yaml-stream.js'
import { collectSentEmpty, restoreSentEmpty, type SentEmpty } from '@cluster-apiserver/api/schema/json/sent-empty.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { SentBody } from '../http/rest/read-body.js'
import type { Entry } from '../storage/storage.js'
import type { EncodedPatch } from '../verbs/worker-steps.js'

/** Settings that the rules of kinds depend on. */
export interface WorkerSettings {
  readonly identity: IdentityName
  /** The texts of --feature-gates and --runtime-config. */
  readonly featureGates: readonly string[]
  readonly runtimeConfig: readonly string[]
  readonly forbidsPrivileged: boolean
  readonly allowsPlainWebhooks: boolean
}

/** A value to send to a thread: as JSON, which is the fastest, or the object itself if it has a bigint, which JSON cannot express. */
export type Packed = string | { readonly data: string | object; readonly sentEmpty?: SentEmpty | undefined }

/** With `schema`, keeps the marks of values that were sent empty, so that large objects are validated like small ones. */
export function pack(object: object, schema?: StructNode): Packed {
  const data = jsonOf(object) ?? object
  const sentEmpty = schema && collectSentEmpty(schema, object)
  return typeof data === 'string' && sentEmpty === undefined ? data : { data, sentEmpty }
}

/** Returns undefined for an object with a bigint. */
function jsonOf(object: object): string | undefined {
  try {
    return JSON.stringify(object)
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined
    throw thrown
  }
}

export function unpack<T extends object>(packed: Packed): T {
  const { data, sentEmpty } = typeof packed === 'string' ? { data: packed, sentEmpty: undefined } : packed
  const value = (typeof data === 'string' ? JSON.parse(data) : data) as T
  if (sentEmpty !== undefined) restoreSentEmpty(value, sentEmpty)
  return value
}

/** The request as a worker sees it: without the user and the headers, except the program name that becomes the field manager. */
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
  /** The CustomResourceDefinition; `id` differs for each version of it. */
  readonly custom: { readonly id: number; readonly source: Packed } | undefined
  /** Conversions that a webhook returned because an earlier run of the step lacked them. */
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
  | (OnCall<'item'> & { readonly choice: EncodingChoice; readonly live: LiveInput })
  | (OnCall<'represent'> & { readonly object: Packed; readonly representation: Representation; readonly includeObject: string | undefined })
  /** A ValidatingAdmissionPolicy and the variables of its expressions. */
  | { readonly step: 'policy'; readonly policy: string; readonly variables: Packed }
  | { readonly step: 'text'; readonly text: ListText }

export interface Task {
  readonly id: string
  readonly step: Step
}

export interface TaskResult {
  readonly id: string
  /** Texts of `Warning` headers. */
  readonly warnings: readonly string[]
  readonly output?: { readonly object?: Packed; readonly bytes?: Uint8Array; readonly contentType?: string }
  readonly failure?: Failure
}

export interface Failure {
  readonly message: string
  readonly stack: string | undefined
  readonly status?: StatusBody
  /** The step needs a conversion by a webhook; it is run again with it. */
  readonly unconverted?: { readonly object: Packed; readonly versions: ConversionVersions; readonly key: string }
}
