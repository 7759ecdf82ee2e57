// Types of JSON responses, as far as tests read them.

interface JsonMetadata {
  readonly name: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly unknown[]
  readonly managedFields?: readonly { readonly manager: string; readonly operation: string }[]
  /** Lists only. */
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** An object, a list or a Status; the test knows which one it requested. */
export interface JsonObject {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: JsonMetadata
  readonly items: readonly JsonObject[]
  readonly data?: Readonly<Record<string, string>>
  readonly reason?: string
  readonly message?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly kind?: string
    readonly uid?: string
    readonly group?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field: string }[]
  }
  readonly [key: string]: unknown
}

export interface WatchEvent {
  readonly type: string
  readonly object: JsonObject
}
