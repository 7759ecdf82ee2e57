// May this enter, and in what shape: what the plugins in `order.ts` do to a write, one after the other.

import type { Call, CallOptions } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { isDryRun } from '../api/options/write-options.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { AdmissionTallies, type AdmissionTally } from './admission-tallies.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** Whether the mutating plugins run a second time, because a webhook has changed what those before it saw. */
export interface Rounds {
  /** Whether this is the second time. */
  isAgain: boolean
  wantsAgain: boolean
}

/** A write on its way in. `object` is what will be stored (absent on delete), `old` what is stored (absent on create). */
export class AdmissionRequest {
  readonly call: Call
  readonly operation: Operation
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
  /** What it was before plugins changed it. */
  private readonly first: AdmissionRequest | undefined
  private begun: Rounds | undefined

  constructor(
    call: Call,
    operation: Operation,
    { object, old }: Pick<AdmissionRequest, 'object' | 'old'>,
    first: AdmissionRequest | undefined = undefined,
  ) {
    this.call = call
    this.operation = operation
    this.object = object
    this.old = old
    this.first = first
    this.begun = undefined
  }

  withObject(object: ApiObject | undefined): AdmissionRequest {
    return object === this.object ? this : new AdmissionRequest(this.call, this.operation, { object, old: this.old }, this.first ?? this)
  }

  /** The same for all that became of one request; made where somebody asks. */
  get rounds(): Rounds {
    const first = this.first ?? this
    first.begun ??= { isAgain: false, wantsAgain: false }
    return first.begun
  }

  /** Whether somebody asked for a second round. */
  get wantsAgain(): boolean {
    return (this.first ?? this).begun?.wantsAgain ?? false
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
  /** Looks once more, right before a new object is stored, at what may have changed while others were waited for; refuses by throwing. */
  readonly recheck?: (request: AdmissionRequest) => void
}

export interface Admission {
  /** The object as the mutating plugins leave it. Synchronous while no plugin waits. */
  mutate(request: AdmissionRequest): ApiObject | undefined | Promise<ApiObject | undefined>
  validate(request: AdmissionRequest): void | Promise<void>
  /** Whether a new object may still enter that was admitted a while ago; left out: it may. */
  recheck?(request: AdmissionRequest): void
  /** How long that took; left out where nobody counts. */
  readonly tallies?: AdmissionTallies
}

export function admissionOf(plugins: readonly Plugin[], tallies = new AdmissionTallies()): Admission {
  const concerned = new Map<string, Concerned>()
  const named = new Set(plugins.flatMap(({ collections = [] }) => collections))
  // Custom kinds come and go without an end: all that no plugin names are one.
  const concernedBy = ({ resource: { collection } }: AdmissionRequest): Concerned =>
    getOrInsert(concerned, named.has(collection) ? collection : others, () => {
      const all = plugins.filter(({ collections }) => collections === undefined || collections.includes(collection))
      return {
        mutating: all.flatMap(({ name, mutate }) => (mutate === undefined ? [] : [{ run: mutate, tally: tallies.of(name, 'admit') }])),
        validating: all.flatMap(({ name, validate }) =>
          validate === undefined ? [] : [{ run: validate, tally: tallies.of(name, 'validate') }],
        ),
      }
    })
  const mutate = (request: AdmissionRequest, begunMs: number) => {
    const { mutating } = concernedBy(request)
    const mutated = mutateFrom(mutating, 0, request, begunMs)
    // Whoever wants a second round was waited for.
    return mutated instanceof Promise ? mutated.then((object) => mutateAgain(mutating, request, object)) : mutated
  }
  const validate = (request: AdmissionRequest, begunMs: number) => validateFrom(concernedBy(request).validating, 0, request, begunMs)
  const rechecks = plugins.flatMap(({ recheck }) => recheck ?? [])
  return {
    tallies,
    mutate: (request) => measured(tallies.steps.admit, mutate, request),
    validate: (request) => measured(tallies.steps.validate, validate, request),
    recheck: (request) => {
      for (const recheck of rechecks) recheck(request)
    },
  }
}

/** The name of no collection. */
const others = '*'

interface Measured<Run> {
  readonly run: Run
  readonly tally: AdmissionTally
}

/** The plugins that look at one collection. */
interface Concerned {
  readonly mutating: readonly Measured<NonNullable<Plugin['mutate']>>[]
  readonly validating: readonly Measured<NonNullable<Plugin['validate']>>[]
}

/** A whole step. Synchronous where the work is. */
function measured<T>(
  tally: AdmissionTally,
  work: (request: AdmissionRequest, begunMs: number) => T | Promise<T>,
  request: AdmissionRequest,
): T | Promise<T> {
  const begunMs = performance.now()
  let result: T | Promise<T>
  try {
    result = work(request, begunMs)
  } catch (thrown) {
    tally.took(request.operation, true, begunMs)
    throw thrown
  }
  if (result instanceof Promise) return measuredLater(tally, request, begunMs, result)
  tally.took(request.operation, false, begunMs)
  return result
}

function measuredLater<T>(tally: AdmissionTally, request: AdmissionRequest, begunMs: number, result: Promise<T>): Promise<T> {
  return result.then(
    (value) => {
      tally.took(request.operation, false, begunMs)
      return value
    },
    (thrown: unknown) => {
      tally.took(request.operation, true, begunMs)
      throw thrown
    },
  )
}

/** The clock is read once between two plugins: where one ends the next begins. */
function mutateFrom(
  plugins: Concerned['mutating'],
  from: number,
  request: AdmissionRequest,
  begunMs: number,
): ApiObject | undefined | Promise<ApiObject | undefined> {
  let object = request.object
  let sinceMs = begunMs
  for (let i = from; i < plugins.length; i++) {
    const { run, tally } = plugins[i] as Concerned['mutating'][number]
    const seen = request.withObject(object)
    let next: ReturnType<typeof run>
    try {
      next = run(seen)
    } catch (thrown) {
      tally.took(seen.operation, true, sinceMs)
      throw thrown
    }
    if (next instanceof Promise) {
      const before = object
      return measuredLater(tally, seen, sinceMs, next).then((settled) => {
        request.call.throwIfAborted()
        return mutateFrom(plugins, i + 1, request.withObject(settled ?? before), performance.now())
      })
    }
    sinceMs = tally.took(seen.operation, false, sinceMs)
    object = next ?? object
  }
  return object
}

/** All of them once more, at most once. */
function mutateAgain(
  plugins: Concerned['mutating'],
  request: AdmissionRequest,
  object: ApiObject | undefined,
): ApiObject | undefined | Promise<ApiObject | undefined> {
  if (!request.wantsAgain) return object
  request.rounds.isAgain = true
  return mutateFrom(plugins, 0, request.withObject(object), performance.now())
}

function validateFrom(plugins: Concerned['validating'], from: number, request: AdmissionRequest, begunMs: number): void | Promise<void> {
  let sinceMs = begunMs
  for (let i = from; i < plugins.length; i++) {
    const { run, tally } = plugins[i] as Concerned['validating'][number]
    let pending: ReturnType<typeof run>
    try {
      pending = run(request)
    } catch (thrown) {
      tally.took(request.operation, true, sinceMs)
      throw thrown
    }
    if (pending instanceof Promise) {
      return measuredLater(tally, request, sinceMs, pending).then(() => {
        request.call.throwIfAborted()
        return validateFrom(plugins, i + 1, request, performance.now())
      })
    }
    sinceMs = tally.took(request.operation, false, sinceMs)
  }
}
