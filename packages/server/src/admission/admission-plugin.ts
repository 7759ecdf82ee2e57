// Interface of admission plugins, and the request that plugins receive.

import type { Call, CallOptions } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { isDryRun } from '@cluster-apiserver/api/api/options/write-options.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'

/** Second run of the mutating plugins, requested when a webhook changed the object after other plugins had seen it. */
export interface Reinvocation {
  isReinvocation: boolean
  isRequested: boolean
}

/** Write request in admission. `object` will be stored (undefined on delete), `old` is stored (undefined on create). */
export class AdmissionRequest {
  readonly call: Call
  readonly operation: Operation
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
  private readonly original: AdmissionRequest | undefined
  private reinvocationState: Reinvocation | undefined

  constructor(
    call: Call,
    operation: Operation,
    { object, old }: Pick<AdmissionRequest, 'object' | 'old'>,
    original: AdmissionRequest | undefined = undefined,
  ) {
    this.call = call
    this.operation = operation
    this.object = object
    this.old = old
    this.original = original
    this.reinvocationState = undefined
  }

  withObject(object: ApiObject | undefined): AdmissionRequest {
    return object === this.object ? this : new AdmissionRequest(this.call, this.operation, { object, old: this.old }, this.original ?? this)
  }

  get reinvocation(): Reinvocation {
    const original = this.original ?? this
    original.reinvocationState ??= { isReinvocation: false, isRequested: false }
    return original.reinvocationState
  }

  get isReinvocationRequested(): boolean {
    return (this.original ?? this).reinvocationState?.isRequested ?? false
  }

  get resource(): Resource {
    return this.call.resource
  }

  get subresource(): string {
    return this.call.subresource?.name ?? ''
  }

  get namespace(): string {
    return this.call.namespace
  }

  /** Name in the request: empty if it will be generated, and for each object of a deletecollection. */
  get name(): string {
    if (this.call.caller.info?.verb === 'deletecollection') return ''
    return this.call.name || (this.object?.metadata?.name ?? '')
  }

  get identity(): Identity {
    return this.call.identity
  }

  get options(): CallOptions {
    return this.call.options
  }

  get dryRun(): boolean {
    return isDryRun(this.call.options)
  }

  /** Undefined for calls of the server itself, which are never aborted. */
  get signal(): AbortSignal | undefined {
    return this.call.caller.signal
  }

  annotate(key: string, value: string): void {
    this.call.caller.annotate(key, value)
  }
}

export interface Plugin {
  readonly name: string
  /** Collections that the plugin handles; undefined: all. */
  readonly collections?: readonly string[]
  /** Throws to reject. Returns the changed object, or undefined to keep the object. */
  readonly mutate?: (request: AdmissionRequest) => Promise<ApiObject | undefined>
  readonly validate?: (request: AdmissionRequest) => Promise<void>
  /** Checks again right before a new object is stored, because webhooks may have taken long; throws to reject. */
  readonly recheck?: (request: AdmissionRequest) => void
}
