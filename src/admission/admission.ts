// May this enter, and in what shape: what the plugins in `order.ts` do to a write, one after the other.

import type { Call, CallOptions } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { isDryRun } from '../api/options/write-options.js'
import { getOrInsert } from '../base/get-or-insert.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A write on its way in. `object` is what will be stored (absent on delete), `old` what is stored (absent on create). */
export class AdmissionRequest {
  readonly call: Call
  readonly operation: Operation
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined

  constructor(call: Call, operation: Operation, { object, old }: Pick<AdmissionRequest, 'object' | 'old'>) {
    this.call = call
    this.operation = operation
    this.object = object
    this.old = old
  }

  withObject(object: ApiObject | undefined): AdmissionRequest {
    return object === this.object ? this : new AdmissionRequest(this.call, this.operation, { object, old: this.old })
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

  /** As the request named it: empty for a new object whose name is yet to be generated, and for each one of a collection that goes. */
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

  /** Undefined where nobody can leave: the server's own calls. */
  get signal(): AbortSignal | undefined {
    return this.call.caller.signal
  }

  /** A remark for the audit log. */
  annotate(key: string, value: string): void {
    this.call.caller.annotate(key, value)
  }
}

export interface Plugin {
  readonly name: string
  /** The collections whose objects it looks at; left out: all. */
  readonly collections?: readonly string[]
  /** Refuses by throwing; returns the object to go on with, or undefined where it is to stay as it is. */
  readonly mutate?: (request: AdmissionRequest) => ApiObject | undefined | Promise<ApiObject | undefined>
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>
}

export interface Admission {
  /** The object as the mutating plugins leave it. Synchronous while no plugin waits. */
  mutate(request: AdmissionRequest): ApiObject | undefined | Promise<ApiObject | undefined>
  validate(request: AdmissionRequest): void | Promise<void>
}

export function admissionOf(plugins: readonly Plugin[]): Admission {
  const concerned = new Map<string, Concerned>()
  const concernedBy = ({ resource: { collection } }: AdmissionRequest): Concerned =>
    getOrInsert(concerned, collection, () => {
      const all = plugins.filter(({ collections }) => collections === undefined || collections.includes(collection))
      return {
        mutating: all.filter(({ mutate }) => mutate !== undefined),
        validating: all.filter(({ validate }) => validate !== undefined),
      }
    })
  return {
    mutate: (request) => mutateFrom(concernedBy(request).mutating, 0, request),
    validate: (request) => validateFrom(concernedBy(request).validating, 0, request),
  }
}

/** The plugins that look at one collection. */
interface Concerned {
  readonly mutating: readonly Plugin[]
  readonly validating: readonly Plugin[]
}

function mutateFrom(
  plugins: readonly Plugin[],
  from: number,
  request: AdmissionRequest,
): ApiObject | undefined | Promise<ApiObject | undefined> {
  let object = request.object
  for (let i = from; i < plugins.length; i++) {
    const next = plugins[i]?.mutate?.(request.withObject(object))
    if (next instanceof Promise) {
      const before = object
      return next.then((settled) => {
        request.call.throwIfAborted()
        return mutateFrom(plugins, i + 1, request.withObject(settled ?? before))
      })
    }
    object = next ?? object
  }
  return object
}

function validateFrom(plugins: readonly Plugin[], from: number, request: AdmissionRequest): void | Promise<void> {
  for (let i = from; i < plugins.length; i++) {
    const pending = plugins[i]?.validate?.(request)
    if (pending instanceof Promise) {
      return pending.then(() => {
        request.call.throwIfAborted()
        return validateFrom(plugins, i + 1, request)
      })
    }
  }
}
