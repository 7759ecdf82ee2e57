// Connections to hooks: kept for as long as somebody uses them, and bounded in number, in what waits and in the bytes of answers.

import type { OnAbort } from '../../api/call.js'
import { onceFor } from '../../base/once-for.js'
import { type HookWays, wayToHook } from '../../net/hook-ways.js'
import { type EndpointAnswer, type EndpointSettings, JsonEndpoint } from '../../net/json-endpoint.js'
import { type AnswerRoom, closedError } from '../../net/question.js'
import type { CertificateFlaw } from '../../net/shown-certificate.js'
import type { WebhookClientConfig } from '../../resources/admissionregistration/v1.schema.js'
import type { ServiceObjects } from '../../resources/core/locate-service.js'
import { locateService, serviceName, serviceUrl } from '../../resources/core/locate-service.js'

/** As whom the server comes to a hook. */
export type HookCredentials = Pick<EndpointSettings, 'clientPair' | 'authorization'>

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
  /** Told what is wrong with the certificate of the hook. */
  readonly onFlaw?: (flaw: CertificateFlaw) => void
}

/** Where a hook is: the URL that messages name, and a reason why nobody can go there. */
export interface HookPlace {
  readonly url: string
  readonly host: string
  /** Throws one sentence where a service has no address. */
  post(request: HookPost): Promise<EndpointAnswer>
}

export interface HookClientOptions {
  readonly userAgent: string
  /** For development: hooks on this machine may be asked without TLS. */
  readonly allowsPlain?: boolean
  readonly limits?: HookClientLimits
  readonly ways?: HookWays
}

interface Kept {
  readonly endpoint: JsonEndpoint
  /** Where it goes, and as whom the server comes. */
  readonly host: string | undefined
  readonly port: number | undefined
  readonly cert: string | undefined
  readonly authorization: string | undefined
  /** Grows with each use. */
  used: number
  inFlight: number
  isDropped: boolean
}

export class HookClients {
  readonly #limits: HookClientLimits
  readonly #userAgent: string
  readonly #allowsPlain: boolean
  readonly #ways: HookWays
  readonly #kept = new Map<string, Kept>()
  /** The one that was last used for a configuration: most stay where they are. */
  readonly #last = new WeakMap<WebhookClientConfig, Kept>()
  #uses = 0
  readonly #room: AnswerRoom
  #answerBytes = 0
  #isClosed = false

  constructor({ userAgent, allowsPlain = false, limits = usualLimits, ways = {} }: HookClientOptions) {
    this.#ways = ways
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
    const target = targetOf(client)
    const query = `?timeout=${Math.ceil(timeoutMs / 1000)}s`
    return { url: `${target.shown}${query}`, host: target.host, post: (request) => this.#post(client, target, query, request) }
  }

  /** Whoever waits for an answer hears of it at once, and nobody is asked any more. */
  close(): void {
    this.#isClosed = true
    for (const kept of this.#kept.values()) {
      kept.isDropped = true
      kept.endpoint.close()
    }
    this.#kept.clear()
  }

  async #post(
    client: WebhookClientConfig,
    target: Target,
    query: string,
    { text, timeoutMs, onAbort, credentials, services, onFlaw }: HookPost,
  ): Promise<EndpointAnswer> {
    if (this.#isClosed) throw closedError()
    const kept = this.#endpointFor(client, target, credentials, services)
    kept.inFlight++
    try {
      return await kept.endpoint.post(text, { timeoutMs, onAbort, onFlaw, path: `${target.path}${query}` })
    } finally {
      kept.inFlight--
      if (kept.isDropped && kept.inFlight === 0) kept.endpoint.close()
    }
  }

  #endpointFor(client: WebhookClientConfig, target: Target, credentials: FindCredentials, services: ServiceObjects): Kept {
    const { service, caBundle } = client
    const { origin, scheme } = target
    if (scheme !== 'https:' && !(this.#allowsPlain && target.isPlainLoopback))
      throw new Error(`unsupported protocol scheme ${JSON.stringify(scheme)}`)
    const address = service === undefined ? undefined : locateService(service, services)
    const found = credentials(target.hostAndPort)
    const who = { host: address?.host, port: address?.port, cert: found?.clientPair?.().cert, authorization: found?.authorization?.() }
    const last = this.#last.get(client)
    if (last !== undefined && !last.isDropped && isSame(last, who)) return this.#use(last)
    const key = [origin, who.host, who.port, caBundle, who.cert, who.authorization].join(' ')
    const kept = this.#kept.get(key) ?? this.#make(key, { client, origin, address, found, who })
    this.#last.set(client, kept)
    return this.#use(kept)
  }

  #use(kept: Kept): Kept {
    kept.used = ++this.#uses
    return kept
  }

  #make(key: string, { client: { service, caBundle }, origin, address, found, who }: Making): Kept {
    if (this.#kept.size >= this.#limits.places) this.#dropOldest()
    const endpoint = new JsonEndpoint(
      {
        url: origin,
        userAgent: this.#userAgent,
        ...wayToHook(this.#ways, service !== undefined),
        ...(address === undefined ? {} : { address }),
        ...(service === undefined ? {} : { serverName: serviceName(service) }),
        ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
        ...found,
      },
      { timeoutMs: neverMs, maxSockets: this.#limits.perPlace, maxBytes: this.#limits.answerBytes, room: this.#room },
    )
    const made: Kept = { endpoint, ...who, used: 0, inFlight: 0, isDropped: false }
    this.#kept.set(key, made)
    return made
  }

  /** Whoever is on the way there comes to an end first. */
  #dropOldest(): void {
    let oldest: readonly [string, Kept] | undefined
    for (const each of this.#kept) if (oldest === undefined || each[1].used < oldest[1].used) oldest = each
    if (oldest === undefined) return
    const [key, kept] = oldest
    this.#kept.delete(key)
    kept.isDropped = true
    if (kept.inFlight === 0) kept.endpoint.close()
  }
}

type Who = Pick<Kept, 'host' | 'port' | 'cert' | 'authorization'>

interface Making {
  readonly client: WebhookClientConfig
  readonly origin: string
  readonly address: { readonly host: string; readonly port: number } | undefined
  readonly found: HookCredentials | undefined
  readonly who: Who
}

const isSame = (a: Who, b: Who): boolean =>
  a.host === b.host && a.port === b.port && a.cert === b.cert && a.authorization === b.authorization

type Target = ReturnType<typeof targetOf>

/** Worked out once for each configuration. A service is spoken of with its port, the usual one included. Throws where the URL is none. */
const targetOf = onceFor(({ service, url: written = '' }: WebhookClientConfig) => {
  const url = new URL(service === undefined ? written : serviceUrl(service))
  const { origin, pathname: path, protocol: scheme } = url
  return {
    origin,
    host: url.hostname,
    path,
    scheme,
    isPlainLoopback: isPlainLoopback(url),
    shown: service === undefined ? `${origin}${path}` : serviceUrl(service),
    /** By which credentials are found. */
    hostAndPort: service === undefined ? `${url.hostname}:${url.port || '443'}` : `${serviceName(service)}:${service.port ?? 443}`,
  }
})

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

const isPlainLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && loopback.has(hostname)
