// May this enter, and in what shape: what the plugins in `order.ts` do to a write, one after the other.

import type { Resource } from '../api/catalog.js'
import type { RuleContext } from '../api/definition.js'
import type { ApiObject } from '../api/object.js'
import { getOrInsert } from '../base/get-or-insert.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A write on its way in. `object` is what will be stored (absent on delete), `old` what is stored (absent on create). */
export interface AdmissionRequest {
  readonly operation: Operation
  readonly resource: Resource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly dryRun: boolean
  readonly rules: RuleContext
  readonly warn: (text: string) => void
}

export interface Plugin {
  readonly name: string
  /** The collections whose objects it looks at; left out: all. */
  readonly collections?: readonly string[]
  /** Refuses by throwing; returns the object to go on with. */
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
    const next = plugins[i]?.mutate?.(object === request.object ? request : { ...request, object })
    if (next instanceof Promise) return next.then((settled) => mutateFrom(plugins, i + 1, { ...request, object: settled }))
    object = next
  }
  return object
}

function validateFrom(plugins: readonly Plugin[], from: number, request: AdmissionRequest): void | Promise<void> {
  for (let i = from; i < plugins.length; i++) {
    const pending = plugins[i]?.validate?.(request)
    if (pending instanceof Promise) return pending.then(() => validateFrom(plugins, i + 1, request))
  }
}
