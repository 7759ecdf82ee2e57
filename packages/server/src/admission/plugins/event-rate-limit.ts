// Events come no faster than they are allowed to: altogether, of a namespace, from a user, or from one source about one object.

import { hash } from 'node:crypto'
import { ApiError } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import type { EventRateLimit, EventRateLimits } from '../config/event-rate-limits.js'

interface EventSource {
  readonly component?: string
  readonly host?: string
}

interface EventObject {
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiVersion?: string
}

interface Event extends ApiObject {
  readonly source?: EventSource
  readonly involvedObject?: EventObject
}

/** Counts an event against every limit, by its key under each: false where it is one too many. */
export type TakeEvents = (keys: readonly string[]) => readonly boolean[]

export interface EventBuckets {
  readonly take: TakeEvents
  /** As if nobody had told of anything yet. */
  readonly forget: () => void
}

export function eventBuckets(limits: EventRateLimits, now: () => number): EventBuckets {
  const buckets = limits.map((limit) => new Buckets(limit, now))
  return {
    take: (keys) => buckets.map((each, i) => each.take(keys[i] ?? '')),
    forget: () => {
      for (const each of buckets) each.forget()
    },
  }
}

/** `take`: those of the whole server, whichever thread a request is carried out in. */
export function eventRateLimit(limits: EventRateLimits, take: TakeEvents): Plugin {
  return {
    name: 'EventRateLimit',
    validate: (request) => {
      const { operation, resource, subresource, dryRun } = request
      // Those that are written in the newer group are not limited, here as in the reference.
      if (
        resource.kind !== 'Event' ||
        resource.group !== '' ||
        subresource !== '' ||
        dryRun ||
        (operation !== 'CREATE' && operation !== 'UPDATE')
      )
        return
      // Each is asked, so that each counts what was refused by another one.
      const keys = limits.map(({ type }) => keyOf(type, request))
      const taken = take(keys)
      const reached = limits.flatMap(({ type }, i) => (taken[i] ? [] : [`limit reached on type ${type} for key ${keys[i]}`]))
      if (reached.length > 0) throw tooManyEvents(reached.length === 1 ? reached.join() : `[${reached.join(', ')}]`)
    },
  }
}

const tooManyEvents = (why: string): ApiError =>
  new ApiError({ code: 429, reason: 'TooManyRequests', message: `Too many requests: ${why}` })

function keyOf(type: EventRateLimit['type'], { namespace, object, call }: AdmissionRequest): string {
  switch (type) {
    case 'Server':
      return ''
    case 'Namespace':
      return namespace
    case 'User':
      return call.user.name
    case 'SourceAndObject': {
      const event = object as Event
      const { component = '', host = '' } = event.source ?? {}
      const { kind = '', namespace: place = '', name = '', uid = '', apiVersion = '' } = event.involvedObject ?? {}
      return [component, host, kind, place, name, uid, apiVersion].join('')
    }
    default:
      return type satisfies never
  }
}

/** Letters. What is longer is told apart by its hash. */
const longestKept = 1024

interface Bucket {
  tokens: number
  atMs: number
}

/** How much each may still do; of those that have not been heard of for the longest time nothing is known any more. */
class Buckets {
  readonly #limit: EventRateLimit
  readonly #now: () => number
  readonly #byKey = new Map<string, Bucket>()

  constructor(limit: EventRateLimit, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  forget(): void {
    this.#byKey.clear()
  }

  take(text: string): boolean {
    const { qps, burst, cacheSize } = this.#limit
    const now = this.#now()
    // Who sends events writes most of it.
    const key = text.length > longestKept ? hash('sha256', text) : text
    const bucket = this.#byKey.get(key) ?? { tokens: burst, atMs: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) / 1000) * qps)
    bucket.atMs = now
    // The last in the order of the map is the one that was heard of last.
    this.#byKey.delete(key)
    this.#byKey.set(key, bucket)
    if (this.#byKey.size > cacheSize) this.#byKey.delete(this.#byKey.keys().next().value ?? '')
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
