// EventRateLimit plugin: token buckets for Events per server, namespace, user, or source and object.

import { hash } from 'node:crypto'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { aggregate } from '../../auth/authorize.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { EventRateLimit, EventRateLimits } from '../config/plugin-configs.js'

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

export type TakeTokens = (keys: readonly string[]) => readonly boolean[]

interface EventTokenBuckets {
  readonly take: TakeTokens
  readonly clear: () => void
}

export function eventTokenBuckets(limits: EventRateLimits, now: () => number): EventTokenBuckets {
  const buckets = limits.map((limit) => new TokenBuckets(limit, now))
  return {
    take: (keys) => buckets.map((each, i) => each.take(keys[i] ?? '')),
    clear: () => {
      for (const each of buckets) each.clear()
    },
  }
}

/** `take` takes one token per key, from buckets that the main thread and worker threads share. */
export function eventRateLimit(limits: EventRateLimits, take: TakeTokens): Plugin {
  return {
    name: 'EventRateLimit',
    validate: async (request) => {
      const { operation, resource, subresource, dryRun } = request
      // Events of the events group are not limited, as in kube-apiserver.
      if (
        resource.kind !== 'Event' ||
        resource.group !== '' ||
        subresource !== '' ||
        dryRun ||
        (operation !== 'CREATE' && operation !== 'UPDATE')
      )
        return
      // Takes from every bucket, also if another one rejects.
      const keys = limits.map(({ type }) => keyOf(type, request))
      const taken = take(keys)
      const reached = limits.flatMap(({ type }, i) => (taken[i] ? [] : [`limit reached on type ${type} for key ${keys[i]}`]))
      if (reached.length > 0) throw tooManyEvents(aggregate(reached))
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
      const { kind = '', namespace: objectNamespace = '', name = '', uid = '', apiVersion = '' } = event.involvedObject ?? {}
      return [component, host, kind, objectNamespace, name, uid, apiVersion].join('')
    }
    default:
      return type satisfies never
  }
}

/** Longer keys are hashed. */
const maxKeyChars = 1024

interface Bucket {
  tokens: number
  updatedAtMs: number
}

class TokenBuckets {
  readonly #limit: EventRateLimit
  readonly #now: () => number
  readonly #byKey = new Map<string, Bucket>()

  constructor(limit: EventRateLimit, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  clear(): void {
    this.#byKey.clear()
  }

  take(text: string): boolean {
    const { qps, burst, cacheSize } = this.#limit
    const now = this.#now()
    const key = text.length > maxKeyChars ? hash('sha256', text) : text
    const bucket = this.#byKey.get(key) ?? { tokens: burst, updatedAtMs: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.updatedAtMs) / 1000) * qps)
    bucket.updatedAtMs = now
    this.#byKey.delete(key)
    this.#byKey.set(key, bucket)
    if (this.#byKey.size > cacheSize) this.#byKey.delete(this.#byKey.keys().next().value ?? '')
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
