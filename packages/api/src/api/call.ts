// One request on a resource, a client's or the server's own: the value that rules, admission and verbs share.

import { isLarge } from '../base/large.js'
import type { Resource, Subresource } from './catalog.js'
import type { FeatureGates, RuleContext } from './definition.js'
import type { Identity } from './identity.js'
import type { DeleteOptions } from './options/delete-options.js'
import type { CreateOptions, PatchOptions, UpdateOptions } from './options/write-options.js'
import type { RequestInfo } from './request-info.js'
import type { User } from './user.js'

/** Who asks, and how they hear of it. A client's is its exchange over HTTP. */
export interface Caller {
  /** What the request asked for, as authorization saw it; undefined for the server itself, which nobody has to allow anything. */
  readonly info: RequestInfo | undefined
  readonly user: User
  readonly userAgent: string
  /** When the request came, in milliseconds since 1970. */
  readonly now: number
  /**
   * Aborted when the time is up or the client has gone; undefined where that cannot be. Made when somebody asks for it: whoever only looks
   * calls `throwIfAborted`.
   */
  readonly signal: AbortSignal | undefined
  throwIfAborted(): void
  /** The same without a signal, which costs more than all else that is done for one that waits; gives what forgets the listener. */
  readonly onAbort?: OnAbort
  /** When its time is up, by `performance.now()`; left out where it did not say, and always later than what others are waited for. */
  readonly deadlineMs?: number | undefined
  /** A text for a `Warning` header. */
  readonly warn: (text: string) => void
  /** A remark for the audit log, or only for one that tells at least so much. The first remark under a key counts. */
  readonly annotate: (key: string, value: string, atLeast?: AnnotationLevel) => void
}

/** Tells why, once. */
export type OnAbort = (listener: (reason: unknown) => void) => () => void

export type AnnotationLevel = 'Metadata' | 'Request' | 'RequestResponse'

/** What rules know of the server. */
export interface RuleSettings {
  readonly identity: Identity
  readonly gates: FeatureGates
  /** Containers may not be privileged on this server. */
  readonly forbidsPrivileged: boolean
  /** For development: webhooks on this machine need no TLS. */
  readonly allowsPlainHooks?: boolean
}

/** What a request may say besides its body, whichever its verb. */
export type CallOptions = CreateOptions & UpdateOptions & PatchOptions & DeleteOptions

export interface CallTarget {
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
}

/** What rules read are fields of its own, and no accessors: a rule may hand on a copy with more in it. */
export class Call implements RuleContext, CallTarget {
  readonly identity: Identity
  readonly gates: FeatureGates
  readonly forbidsPrivileged: boolean
  readonly allowsPlainHooks: boolean
  readonly user: User
  readonly now: number
  /** The version in which the caller speaks. */
  readonly version: string
  readonly warn: (text: string) => void
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  readonly namespace: string
  readonly name: string
  readonly options: CallOptions
  readonly caller: Caller
  private readonly settings: RuleSettings
  /** True if its steps run in a worker thread: see verbs/steps. */
  isLarge = false
  /** Size of the body or of the stored entry, whichever is larger. */
  bytes = 0

  constructor(settings: RuleSettings, caller: Caller, target: CallTarget) {
    this.identity = settings.identity
    this.gates = settings.gates
    this.forbidsPrivileged = settings.forbidsPrivileged
    this.allowsPlainHooks = settings.allowsPlainHooks ?? false
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

  /** The same caller, on something else. */
  with(changes: Partial<CallTarget>): Call {
    const { resource, subresource, namespace, name, options } = this
    const call = new Call(this.settings, this.caller, { resource, subresource, namespace, name, options, ...changes })
    call.isLarge = this.isLarge
    call.bytes = this.bytes
    return call
  }

  /** To be called before every commit, and wherever something was waited for: what nobody waits for is not done. */
  throwIfAborted(): void {
    this.caller.throwIfAborted()
  }

  /** Tells when the caller is gone or the time is up, where that can be. */
  get onAbort(): OnAbort | undefined {
    const { onAbort } = this.caller
    if (onAbort !== undefined) return onAbort
    const { signal } = this.caller
    if (signal === undefined) return undefined
    return (listener) => {
      const tell = (): void => listener(signal.reason)
      signal.addEventListener('abort', tell, { once: true })
      return () => signal.removeEventListener('abort', tell)
    }
  }

  /** To be called with the body and with the stored entry, before a step works on them. */
  noteBytes(bytes: Uint8Array, maxBytes?: number): void {
    this.isLarge ||= isLarge(bytes, maxBytes)
    this.bytes = Math.max(this.bytes, bytes.length)
  }

  markLarge(): void {
    this.isLarge = true
  }

  /** What is waited for, unless the caller is gone before. */
  waitFor<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.caller
    if (signal === undefined) return work
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason)
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
      const settle = (): void => signal.removeEventListener('abort', stop)
      work.then(
        (value) => {
          settle()
          resolve(value)
        },
        (thrown: unknown) => {
          settle()
          reject(thrown)
        },
      )
    })
  }
}
