// The messages between the event loop and the worker threads: one pure step, and its result.

import type { StatusBody } from '../../api/api-error.js'
import type { CallOptions } from '../../api/call.js'
import type { ConversionVersions } from '../../api/conversion.js'
import type { IdentityName } from '../../api/identity.js'
import type { FormWish } from '../../codec/item-form.js'
import type { DocumentText, ItemsText } from '../../codec/list-text.js'
import type { Format, Representation } from '../../codec/negotiation.js'
import type { Entry } from '../../storage/storage.js'
import type { PatchType } from '../../verbs/patch.js'

/** All that a worker thread knows of the server: what the rules of kinds depend on. */
export interface WorkerSettings {
  readonly identity: IdentityName
  /** The texts of --feature-gates and --runtime-config. */
  readonly featureGates: readonly string[]
  readonly runtimeConfig: readonly string[]
  readonly forbidsPrivileged: boolean
  readonly allowsPlainHooks: boolean
}

/** A CustomResourceDefinition; `id` is another number for each version of it. */
export interface CustomSource {
  readonly id: number
  readonly json: string
}

/** What a step knows of its request: neither the user nor the headers, but for the program that becomes the field manager. */
export interface CallFacts {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
  readonly now: number
  readonly userAgent: string
  readonly custom: CustomSource | undefined
  /** Conversions by a webhook that the step needed before: see verbs/versions. */
  readonly conversions: readonly (readonly [key: string, json: string])[]
}

/** A stored object: its entry, or JSON in the stored version if a webhook had to convert it. */
export type SentLive = { readonly entry: Entry } | { readonly json: string }

export type Step =
  | { readonly step: 'decode'; readonly call: CallFacts; readonly format: Format; readonly bytes: Uint8Array }
  | { readonly step: 'create'; readonly call: CallFacts; readonly json: string }
  | { readonly step: 'update'; readonly call: CallFacts; readonly json: string; readonly live: SentLive }
  | {
      readonly step: 'patch'
      readonly call: CallFacts
      readonly type: PatchType
      readonly bytes: Uint8Array
      readonly live: SentLive | undefined
    }
  | { readonly step: 'check'; readonly call: CallFacts; readonly json: string; readonly live: SentLive | undefined }
  | { readonly step: 'encode'; readonly call: CallFacts; readonly json: string }
  | { readonly step: 'item'; readonly call: CallFacts; readonly wish: FormWish; readonly live: SentLive }
  | {
      readonly step: 'represent'
      readonly call: CallFacts
      readonly representation: Representation
      readonly includeObject: string | undefined
      readonly json: string
    }
  /** JSON of a ValidatingAdmissionPolicy and of the variables of its expressions. */
  | { readonly step: 'policy'; readonly policy: string; readonly variables: string }
  | { readonly step: 'text'; readonly text: DocumentText }
  | { readonly step: 'items'; readonly text: ItemsText }

/** The result must carry the id of its task. */
export interface Task {
  readonly id: string
  readonly step: Step
}

export interface StepOutput {
  /** An object, as JSON. */
  readonly json?: string
  readonly bytes?: Uint8Array
  readonly contentType?: string
  /** Texts of `Warning` headers. */
  readonly warnings?: readonly string[]
}

export type TaskResult =
  | { readonly id: string; readonly output: StepOutput }
  | { readonly id: string; readonly warnings: readonly string[]; readonly failure: Failure }

/** An error on its way between threads. */
export interface Failure {
  readonly message: string
  /** Of an ApiError. */
  readonly status?: StatusBody
  /** The step needs a conversion by a webhook; it is run again with it. */
  readonly unconverted?: { readonly json: string; readonly versions: ConversionVersions; readonly key: string }
}
