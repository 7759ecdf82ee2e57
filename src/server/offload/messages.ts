// What the event loop and the thread for heavy requests say to one another.

import type { TalliedDurations } from '../../admission/admission-tallies.js'
import type { SentPolicyTally } from '../../admission/policy/policy-tallies.js'
import type { HookCounts } from '../../admission/webhooks/hook-tallies.js'
import type { Recording } from '../../admission/webhooks/review-recorder.js'
import type { StatusBody } from '../../api/api-error.js'
import type { FormWish } from '../../codec/item-form.js'
import type { ItemsText } from '../../codec/list-text.js'
import type { OffloadedAnswer, OffloadedRequest } from '../../http/offload.js'
import type { CertificateCounts } from '../../net/shown-certificate.js'
import type { ChangesQuery, CommitOutcome, Entry, KeyRange, RangeQuery, Write } from '../../storage/storage.js'
import type { AdminCredential } from '../client-configuration.js'
import type { ParsedFlags } from '../options/parse-flags.js'
import type { SyncLink } from './sync-calls.js'

/** What the thread is started with. */
export interface ThreadStart {
  readonly flags: ParsedFlags
  /** The files that flags name, as they were at the start of the server: what counts there counts here. */
  readonly texts: ReadonlyMap<string, string>
  readonly credential: AdminCredential
  readonly dataDir: string | undefined
  /** Believed where the operator named nobody else. */
  readonly ownCa: string
  readonly calls: SyncLink
}

/** The storage is asked without an event loop in between: whoever asks stands still until the answer is there. */
export type Question =
  | { readonly about: 'state' }
  | { readonly about: 'read'; readonly key: string }
  | { readonly about: 'staleness'; readonly key: string }
  | { readonly about: 'range'; readonly query: RangeQuery }
  | { readonly about: 'count'; readonly range: KeyRange; readonly at: number | undefined }
  | { readonly about: 'changes'; readonly query: ChangesQuery }
  /** Kinds that came after the start are known to the event loop alone. */
  | { readonly about: 'owners'; readonly apiVersion: string; readonly kind: string }
  /** Limits of events are those of the whole server. */
  | { readonly about: 'events'; readonly keys: readonly string[] }

export interface StorageState {
  readonly revision: number
  readonly compacted: number
}

export type Reply<T> = { readonly value: T; readonly state: StorageState } | { readonly failure: Failure }

/** An error that is made anew on the other side. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly compacted?: number
  /** How many keys could have been written. */
  readonly most?: number
  /** What the client is told, where that is decided. */
  readonly status?: StatusBody
}

/** Bytes that have their memory to themselves, so that it can be given away. */
export type OwnBytes = Uint8Array & { readonly buffer: ArrayBuffer }

/** An entry as it is sent: bytes lose their class on the way. */
export type SentEntry = Omit<Entry, 'value'> & { readonly value: OwnBytes }
export type SentWrite = Omit<Write, 'value'> & { readonly value: OwnBytes | undefined }
export type SentOutcome =
  | Extract<CommitOutcome, { ok: true }>
  | { readonly ok: false; readonly key: string; readonly current: SentEntry | undefined }

/** The item of an object, in a form that is known by its words. */
export interface WantedItem {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly form: FormWish
  readonly entry: SentEntry
}

/** Several at a time, told apart by `job`. `catalog` is another number whenever the kinds that are served have changed. */
export type Task =
  | { readonly kind: 'request'; readonly job: number; readonly catalog: number; readonly request: OffloadedRequest }
  | { readonly kind: 'item'; readonly job: number; readonly catalog: number; readonly item: WantedItem }
  | { readonly kind: 'text'; readonly job: number; readonly catalog: number; readonly text: ItemsText }

export type ToThread =
  | Task
  /** Whether it does anything but compute. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'done'; readonly id: number; readonly reply: Reply<SentOutcome | number | undefined> }

/** What was counted for one request. */
export interface SentCounts {
  readonly plugins: readonly TalliedDurations[]
  readonly policies: readonly SentPolicyTally[]
  readonly hooks: HookCounts
  /** What webhooks showed of themselves. */
  readonly certificates: CertificateCounts
}

export type FromThread =
  /** It is there, and has a moment. */
  | { readonly kind: 'awake' }
  | { readonly kind: 'answer'; readonly job: number; readonly answer: OffloadedAnswer; readonly counts: SentCounts }
  /** What a task gave that is no request. */
  | { readonly kind: 'made'; readonly job: number; readonly bytes: OwnBytes }
  | { readonly kind: 'failed'; readonly job: number; readonly failure: Failure }
  | { readonly kind: 'commit'; readonly job: number; readonly id: number; readonly writes: readonly SentWrite[] }
  /** A review that a hook was sent, for whoever wants to send it again. */
  | { readonly kind: 'recorded'; readonly recording: Recording }
  /** Asks for the turn at the quotas of a namespace, and gives it back. */
  | { readonly kind: 'turn'; readonly id: number; readonly namespace: string }
  | { readonly kind: 'turnOver'; readonly id: number }
  | { readonly kind: 'readIndex'; readonly id: number; readonly purpose: 'write' | undefined }
