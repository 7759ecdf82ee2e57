// Connections to hooks: kept for as long as somebody uses them, and bounded in number, in what waits and in the bytes of answers.

import type { OnAbort } from '../../api/call.js'
import { onceFor } from '../../base/once-for.js'
import type { AnswerRoom } from '../../net/ask.js'
import { type EndpointAnswer, type EndpointSettings, JsonEndpoint } from '../../net/json-endpoint.js'
import type { WebhookClientConfig } from '../../resources/admissionregistration/v1.schema.js'
import type { ServiceObjects } from '../../resources/core/locate-service.js'
import { locateService, serviceName, serviceUrl } from '../../resources/core/locate-service.js'

/** As whom the server comes to a hook. */
export type HookCredentials = Pick<EndpointSettings, 'cert' | 'key' | 'authorization'>

/** By host and port, `name.namespace.svc:443` for services. */
export type FindCredentials = (target: string) => HookCredentials | undefined

export interface HookClientLimits {
  /** Requests to one place that are on their way at a time. */
  readonly perPlace: number
  readonly places: number
  readonly answerBytes: number
  /** Of all answers that are being read. */
  readonly allAnswerBytes: number
}

/** An answer may hold a patch with a whole object in it, once more by a third for its base64. */
const usualLimits: HookClientLimits = { perPlace: 100, places: 256, answerBytes: 6 << 20, allAnswerBytes: 64 << 20 }

/** Each request says how long it waits. */
const neverMs = 60_000

export interface HookPost {
  readonly text: string
  readonly timeoutMs: number
  readonly onAbort: OnAbort | undefined
  readonly credentials: FindCredentials
  readonly services: ServiceObjects
}

/** Where a hook is: the URL that messages name, and a reason why nobody can go there. */
export interface HookPlace {
  readonly url: string
  /** Throws one sentence where a service has no address. */
  post(request: HookPost): Promise<EndpointAnswer>
}

export interface HookClientOptions {
  readonly userAgent: string
  /** For development: hooks on this machine may be asked without TLS. */
  readonly allowsPlain?: boolean
  readonly limits?: HookClientLimits
}

interface Kept {
  readonly endpoint: JsonEndpoint
  inFlight: number
  isDropped: boolean
}

export class HookClients {
  readonly #limits: HookClientLimits
  readonly #userAgent: string
  readonly #allowsPlain: boolean
  /** What was used last comes last. */
  readonly #kept = new Map<string, Kept>()
  readonly #room: AnswerRoom
  #answerBytes = 0

  constructor({ userAgent, allowsPlain = false, limits = usualLimits }: HookClientOptions) {
    this.#limits = limits
    this.#allowsPlain = allowsPlain
    this.#userAgent = userAgent
    this.#room = {
      take: (bytes) => {
        if (this.#answerBytes + bytes > limits.allAnswerBytes) return false
        this.#answerBytes += bytes
        return true
      },
      give: (bytes) => {
        this.#answerBytes -= bytes
      },
    }
  }

  /** The hook is told how long it is waited for. */
  placeOf(client: WebhookClientConfig, timeoutMs: number): HookPlace {
    const { url, shown } = targetOf(client)
    const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`
    return { url: `${shown}${query}`, post: (request) => this.#post(client, { url, path: `${url.pathname}${query}` }, request) }
  }

  close(): void {
    for (const { endpoint } of this.#kept.values()) endpoint.close()
    this.#kept.clear()
  }

  async #post(
    client: WebhookClientConfig,
    { url, path }: { readonly url: URL; readonly path: string },
    { text, timeoutMs, onAbort, credentials, services }: HookPost,
  ): Promise<EndpointAnswer> {
    const kept = this.#endpointFor(client, url, credentials, services)
    kept.inFlight++
    try {
      return await kept.endpoint.post(text, { timeoutMs, onAbort, path })
    } finally {
      kept.inFlight--
      if (kept.isDropped && kept.inFlight === 0) kept.endpoint.close()
    }
  }

  #endpointFor({ service, caBundle }: WebhookClientConfig, url: URL, credentials: FindCredentials, services: ServiceObjects): Kept {
    if (url.protocol !== 'https:' && !(this.#allowsPlain && isPlainLoopback(url)))
      throw new Error(`unsupported protocol scheme ${JSON.stringify(url.protocol)}`)
    const address = service === undefined ? undefined : locateService(service, services)
    const target = service === undefined ? `${url.hostname}:${url.port || '443'}` : `${serviceName(service)}:${service.port ?? 443}`
    const found = credentials(target)
    const key = [url.origin, address?.host, address?.port, caBundle, found?.cert, found?.authorization?.()].join(' ')
    const before = this.#kept.get(key)
    if (before !== undefined) {
      this.#kept.delete(key)
      this.#kept.set(key, before)
      return before
    }
    if (this.#kept.size >= this.#limits.places) this.#dropOldest()
    const endpoint = new JsonEndpoint(
      {
        url: url.origin,
        userAgent: this.#userAgent,
        ...(address === undefined ? {} : { address }),
        ...(service === undefined ? {} : { serverName: serviceName(service) }),
        ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
        ...found,
      },
      { timeoutMs: neverMs, maxSockets: this.#limits.perPlace, maxBytes: this.#limits.answerBytes, room: this.#room },
    )
    const made: Kept = { endpoint, inFlight: 0, isDropped: false }
    this.#kept.set(key, made)
    return made
  }

  /** Whoever is on the way there comes to an end first. */
  #dropOldest(): void {
    for (const [key, kept] of this.#kept) {
      this.#kept.delete(key)
      kept.isDropped = true
      if (kept.inFlight === 0) kept.endpoint.close()
      return
    }
  }
}

/** Worked out once for each configuration. A service is spoken of with its port, the usual one included. Throws where the URL is none. */
const targetOf = onceFor(({ service, url: written = '' }: WebhookClientConfig) => {
  const url = new URL(service === undefined ? written : serviceUrl(service))
  return { url, shown: service === undefined ? `${url.origin}${url.pathname}` : serviceUrl(service) }
})

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

const isPlainLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && loopback.has(hostname)
