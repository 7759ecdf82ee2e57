// Call: one request on a resource, by a client or by the server itself. Validation, admission and verbs share it.

import { isLarge } from '../base/large-input.js'
import type { Resource, Subresource } from './catalog/resource.js'
import type { FeatureGates, RuleContext } from './definition/resource-definition.js'
import type { Identity } from './identity.js'
import type { DeleteOptions } from './options/delete-options.js'
import type { CreateOptions, PatchOptions, UpdateOptions } from './options/write-options.js'
import type { RequestInfo } from './request-info.js'
import type { User } from './user.js'

export interface Caller {
  /** Undefined for the server's own calls, which are always authorized. */
  readonly info: RequestInfo | undefined
  readonly user: User
  readonly userAgent: string
  readonly now: number
  /** Aborted on timeout or when the client disconnects; undefined if neither can happen. Created on first use. */
  readonly signal: AbortSignal | undefined
  throwIfAborted(): void
  /** Adds an abort listener, which is cheaper than `signal`. Returns a function that removes the listener. */
  readonly onAbort?: OnAbort
  /** A filter waits for all writes that were acknowledged before the request arrived, so its verbs need no read index of their own. */
  readonly hasReadIndex?: boolean
  /** `performance.now()` at which the request times out. */
  readonly deadlineMs?: number | undefined
  readonly warn: (text: string) => void
  /** Adds an audit annotation, recorded at audit level `atLeast` and above; the first value of a key wins. */
  readonly annotate: (key: string, value: string, atLeast?: AnnotationLevel) => void
  /** Adds to the time of a layer for the audit log; undefined if latencies are not recorded. */
  readonly addLatency?: AddLatency | undefined
}

/** Layers whose time the audit event of a slow request shows. */
export type LatencyLayer =
  | 'mutating-webhook'
  | 'validating-webhook'
  | 'etcd'
  | 'transform-response-object'
  | 'serialize-response-object'
  | 'response-write'

export type AddLatency = (layer: LatencyLayer, ms: number) => void

export type OnAbort = (listener: (reason: unknown) => void) => () => void

export type AnnotationLevel = 'Metadata' | 'Request' | 'RequestResponse'

export interface RuleSettings {
  readonly identity: Identity
  readonly gates: FeatureGates
  readonly forbidsPrivileged: boolean
  /** For development: webhooks on loopback need no TLS. */
  readonly allowsPlainWebhooks?: boolean
}

export type CallOptions = CreateOptions & UpdateOptions & PatchOptions & DeleteOptions

export interface CallTarget {
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
}

/** The data that rules read are fields, not accessors, because rules spread a call into copies. */
export class Call implements RuleContext, CallTarget {
  readonly identity: Identity
  readonly gates: FeatureGates
  readonly forbidsPrivileged: boolean
  readonly allowsPlainWebhooks: boolean
  readonly user: User
  readonly now: number
  readonly version: string
  readonly warn: (text: string) => void
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
  readonly caller: Caller
  private readonly settings: RuleSettings
  /** True if the steps of the call run in a worker thread, because they would block the event loop for too long. */
  isLarge = false
  /** Bytes of the largest input so far: the body or the stored entry. */
  bytes = 0

  constructor(settings: RuleSettings, caller: Caller, target: CallTarget) {
    this.identity = settings.identity
    this.gates = settings.gates
    this.forbidsPrivileged = settings.forbidsPrivileged
    this.allowsPlainWebhooks = settings.allowsPlainWebhooks ?? false
    this.user = caller.user
    this.now = caller.now
    this.version = target.resource.version
    this.warn = caller.warn
    this.resource = target.resource
    this.subresource = target.subresource
    this.namespace = target.namespace
    this.name = target.name
    this.options = target.options
    this.caller = caller
    this.settings = settings
  }

  with(changes: Partial<CallTarget>): Call {
    const { resource, subresource, namespace, name, options } = this
    const call = new Call(this.settings, this.caller, { resource, subresource, namespace, name, options, ...changes })
    call.isLarge = this.isLarge
    call.bytes = this.bytes
    return call
  }

  /** Must be called before every commit and after every wait, so that an aborted request changes nothing more. */
  throwIfAborted(): void {
    this.caller.throwIfAborted()
  }

  get onAbort(): OnAbort | undefined {
    const { onAbort } = this.caller
    if (onAbort !== undefined) return onAbort
    const { signal } = this.caller
    if (signal === undefined) return undefined
    return (listener) => {
      const onSignal = (): void => listener(signal.reason)
      if (signal.aborted) onSignal()
      else signal.addEventListener('abort', onSignal, { once: true })
      return () => signal.removeEventListener('abort', onSignal)
    }
  }

  noteBytes(bytes: Uint8Array, maxBytes?: number): void {
    this.isLarge ||= isLarge(bytes, maxBytes)
    this.bytes = Math.max(this.bytes, bytes.length)
  }

  markLarge(): void {
    this.isLarge = true
  }

  waitFor<T>(work: Promise<T>): Promise<T> {
    const { onAbort } = this
    if (onAbort === undefined) return work
    return new Promise((resolve, reject) => {
      const removeListener = onAbort(reject)
      work.then(
        (value) => {
          removeListener()
          resolve(value)
        },
        (thrown: unknown) => {
          removeListener()
          reject(thrown)
        },
      )
    })
  }
}
