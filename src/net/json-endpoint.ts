// A service of somebody else that is asked over HTTP: one JSON document there, one back, within a time and a size. Connections are kept, and
// redirects are not followed: they are answers like others.

import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { type AnswerRoom, ask, type WholeAnswer } from './ask.js'
import { tlsOptions } from './upstream.js'

/** Where a service is, and how each side knows the other. */
export interface EndpointSettings {
  readonly url: string
  /** Where the connection goes, where that is another place than the URL names. */
  readonly address?: { readonly host: string; readonly port: number }
  /** PEM; left out: the authorities of this machine. */
  readonly ca?: string
  /** Whatever certificate it shows is taken. */
  readonly insecure?: boolean
  /** The name that its certificate must have, where it is another than that of the address. */
  readonly serverName?: string
  /** PEM, both or none. */
  readonly cert?: string
  readonly key?: string
  /** What stands in `Authorization`, asked for with each request; left out: nothing. */
  readonly authorization?: () => string
  readonly userAgent?: string
}

export interface EndpointLimits {
  readonly timeoutMs: number
  /** How many requests are on their way at a time; others wait for their turn. */
  readonly maxSockets?: number
  /** Of an answer. */
  readonly maxBytes?: number
  /** What answers of several endpoints may take together. */
  readonly room?: AnswerRoom
}

export interface PostOptions {
  /** Tells when nobody waits any more, and why; gives what forgets the listener. */
  readonly onAbort?: ((listener: (reason: unknown) => void) => () => void) | undefined
  /** Instead of that of the endpoint. */
  readonly timeoutMs?: number
  /** Path and query, instead of those of the URL. */
  readonly path?: string
}

export interface EndpointAnswer {
  readonly status: number
  readonly body: Buffer
  /** In seconds, where the answer says when to come again. */
  readonly retryAfter: number | undefined
  /** Empty where it says none. */
  readonly contentType?: string
}

const mostAnswerBytes = 4 << 20
const usualSockets = 64
/** Whoever is asked by many at once is asked so again: a new connection costs more than ten requests. */
const mostFreeSockets = 32
/** A kept connection that nobody uses is closed then. */
const idleMs = 60_000
/** A kept connection may have been closed by the other side just before it is used: then another one is tried. */
const mostAttempts = 3

export class JsonEndpoint {
  readonly #settings: EndpointSettings
  readonly #limits: EndpointLimits
  readonly #url: URL
  readonly #place: { readonly hostname: string; readonly port: string | number; readonly path: string }
  readonly #agent: HttpAgent | HttpsAgent

  constructor(settings: EndpointSettings, limits: EndpointLimits) {
    this.#settings = settings
    this.#limits = limits
    this.#url = new URL(settings.url)
    const { hostname, port, pathname, search } = this.#url
    this.#place = { hostname: hostname.replace(/^\[|\]$/g, ''), port, path: `${pathname}${search}` }
    const common = { keepAlive: true, maxSockets: limits.maxSockets ?? usualSockets, maxFreeSockets: mostFreeSockets, timeout: idleMs }
    this.#agent = this.#url.protocol === 'http:' ? new HttpAgent(common) : new HttpsAgent({ ...common, ...tlsOptions(settings) })
  }

  /** Rejects with one sentence when nobody answers in time, or with more than there may be. A text is JSON already. */
  async post(document: unknown, options: PostOptions = {}): Promise<EndpointAnswer> {
    const body = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
    const { timeoutMs = this.#limits.timeoutMs } = options
    const lateAt = performance.now() + timeoutMs
    for (let attempts = 1; ; attempts++) {
      let wasStale = false
      try {
        const answer = await ask(this.#request(body, options.path), {
          body,
          timeoutMs: lateAt - performance.now(),
          allowedMs: timeoutMs,
          mostBytes: this.#limits.maxBytes ?? mostAnswerBytes,
          room: this.#limits.room,
          onAbort: options.onAbort,
          onStale: () => {
            wasStale = true
          },
        })
        return endpointAnswer(answer)
      } catch (thrown) {
        if (!wasStale || attempts >= mostAttempts) throw thrown
      }
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #request(body: Buffer, path = this.#place.path): ClientRequest {
    const { authorization, address, userAgent } = this.#settings
    const headers = {
      ...(address === undefined ? {} : { host: this.#url.host }),
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'content-length': String(body.length),
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      ...(authorization === undefined ? {} : { authorization: authorization() }),
    }
    const { host: hostname, port } = address ?? { host: this.#place.hostname, port: this.#place.port }
    const options = { method: 'POST', agent: this.#agent, headers, hostname, port, path }
    return this.#url.protocol === 'http:' ? requestHttp(options) : requestHttps(options)
  }
}

function endpointAnswer({ status, headers, body }: WholeAnswer): EndpointAnswer {
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN)
  return {
    status,
    body,
    retryAfter: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : undefined,
    contentType: headers['content-type'] ?? '',
  }
}
