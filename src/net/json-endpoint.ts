// A service of somebody else that is asked over HTTP: one JSON document there, one back, within a time and a size. Connections are kept.

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

/** Where a service is, and how each side knows the other. */
export interface EndpointSettings {
  readonly url: string
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
}

export interface EndpointLimits {
  readonly timeoutMs: number
  /** How many requests are on their way at a time; others wait for their turn. */
  readonly maxSockets?: number
  /** Of an answer. */
  readonly maxBytes?: number
}

export interface EndpointAnswer {
  readonly status: number
  readonly body: Buffer
  /** In seconds, where the answer says when to come again. */
  readonly retryAfter: number | undefined
}

const mostAnswerBytes = 4 << 20
const usualSockets = 64

export class JsonEndpoint {
  readonly #settings: EndpointSettings
  readonly #limits: EndpointLimits
  readonly #url: URL
  readonly #agent: HttpAgent | HttpsAgent

  constructor(settings: EndpointSettings, limits: EndpointLimits) {
    this.#settings = settings
    this.#limits = limits
    this.#url = new URL(settings.url)
    const common = { keepAlive: true, maxSockets: limits.maxSockets ?? usualSockets, maxFreeSockets: 4 }
    const { ca, insecure = false, serverName, cert, key } = settings
    this.#agent =
      this.#url.protocol === 'http:'
        ? new HttpAgent(common)
        : new HttpsAgent({
            ...common,
            rejectUnauthorized: !insecure,
            ...(ca === undefined ? {} : { ca }),
            ...(serverName === undefined ? {} : { servername: serverName }),
            ...(cert === undefined ? {} : { cert }),
            ...(key === undefined ? {} : { key }),
          })
  }

  /** Rejects with one sentence when nobody answers in time, or with more than there may be. A text is JSON already. */
  async post(document: unknown, signal?: AbortSignal): Promise<EndpointAnswer> {
    const body = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
    const { timeoutMs } = this.#limits
    const ending = AbortSignal.timeout(timeoutMs)
    try {
      return await this.#send(body, signal === undefined ? ending : AbortSignal.any([ending, signal]))
    } catch (thrown) {
      if (ending.aborted) throw new Error(`no answer within ${timeoutMs} ms`)
      throw thrown
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(body: Buffer, signal: AbortSignal): Promise<EndpointAnswer> {
    const { authorization } = this.#settings
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'content-length': String(body.length),
      ...(authorization === undefined ? {} : { authorization: authorization() }),
    }
    const request = this.#url.protocol === 'http:' ? requestHttp : requestHttps
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers, signal }, (response) => {
        this.#read(response).then(resolve, reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  async #read(response: IncomingMessage): Promise<EndpointAnswer> {
    const most = this.#limits.maxBytes ?? mostAnswerBytes
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > most) throw new Error(`the answer is longer than ${most} bytes`)
      parts.push(part)
    }
    const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
    return {
      status: response.statusCode ?? 0,
      body: Buffer.concat(parts),
      retryAfter: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : undefined,
    }
  }
}
