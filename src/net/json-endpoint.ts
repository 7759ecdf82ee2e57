// A service of somebody else that is asked over HTTP: one JSON document there, one back, within a time and a size. Connections are kept, and
// redirects are not followed: they are answers like others.

import type { OutgoingHttpHeaders } from 'node:http2'
import { connect as connectPlain, isIP } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import type { KeyPair } from './issue-certificate.js'
import { KeptConnections, type Opened } from './kept-connections.js'
import { type AnswerRoom, type QuestionText, type ReadAnswer, StaleConnectionError } from './question.js'
import { type CertificateFlaw, type CertificateTally, ShownCertificate } from './shown-certificate.js'
import type { Dial } from './tunnel.js'
import { hostOf, portOf, tlsOptions } from './upstream.js'

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
  /** PEM of what this side shows, asked for with each connection; left out: nothing. The same value until it changes. */
  readonly clientPair?: () => KeyPair
  /** What stands in `Authorization`, asked for with each request; left out: nothing. */
  readonly authorization?: () => string
  readonly userAgent?: string
  /** Counts what it shows of itself; left out: nobody wants to know. */
  readonly tally?: CertificateTally | undefined
  /** Left out: directly. */
  readonly dial?: Dial | undefined
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
  /** Told what is wrong with the certificate that was shown, where somebody counts that. */
  readonly onFlaw?: ((flaw: CertificateFlaw) => void) | undefined
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
/** What would end a header, or is not to be found in one. */
const unsendable = /[^\t -~]/

export class JsonEndpoint {
  readonly #settings: EndpointSettings
  readonly #limits: EndpointLimits
  readonly #url: URL
  readonly #path: string
  /** The headers that are always the same. */
  readonly #head: string
  readonly #connections: KeptConnections
  /** Of the last connection, with which the next one is made more cheaply where it shows the same. */
  #session: { readonly ticket: Buffer; readonly pair: KeyPair | undefined } | undefined
  /** The last connection: all lead to the same server, and it shows the same on each. */
  #lastSocket: TLSSocket | undefined
  readonly #shown: ShownCertificate | undefined

  constructor(settings: EndpointSettings, limits: EndpointLimits) {
    const { url, userAgent } = settings
    this.#settings = settings
    this.#limits = limits
    this.#shown = settings.tally && new ShownCertificate(settings.tally)
    this.#url = new URL(url)
    this.#path = `${this.#url.pathname}${this.#url.search}`
    const agent = userAgent === undefined ? '' : `User-Agent: ${sendable(userAgent)}\r\n`
    this.#head = `Host: ${this.#url.host}\r\n${agent}Content-Type: application/json\r\nAccept: application/json, */*\r\n`
    const most = limits.maxSockets ?? usualSockets
    const wording = { http1: this.#wordHttp1, http2: this.#wordHttp2 }
    this.#connections = new KeptConnections({ most, mostFree: mostFreeSockets, freeMs: idleMs }, wording, () => this.#open())
  }

  /** Rejects with one sentence when nobody answers in time, or with more than there may be. A text is JSON already. */
  async post(document: unknown, options: PostOptions = {}): Promise<EndpointAnswer> {
    const body = typeof document === 'string' ? document : JSON.stringify(document)
    const { timeoutMs = this.#limits.timeoutMs } = options
    const { authorization: authorize } = this.#settings
    const authorization = authorize === undefined ? undefined : sendable(authorize())
    const request = { path: options.path ?? this.#path, authorization, body }
    const { room, maxBytes: mostBytes = mostAnswerBytes } = this.#limits
    const { onAbort } = options
    const lateAt = performance.now() + timeoutMs
    for (let attempts = 1; ; attempts++) {
      try {
        const leftMs = attempts === 1 ? timeoutMs : Math.max(1, lateAt - performance.now())
        const question = { request, timeoutMs: leftMs, allowedMs: timeoutMs, mostBytes, room, onAbort, isFresh: attempts === mostAttempts }
        const answer = await this.#connections.ask(question)
        this.#shown?.countAnswer(this.#lastSocket, options.onFlaw)
        return endpointAnswer(answer)
      } catch (thrown) {
        if (!(thrown instanceof StaleConnectionError)) {
          this.#shown?.countFailure(thrown, options.onFlaw)
          throw thrown
        }
        if (attempts === mostAttempts) throw thrown.cause
      }
    }
  }

  close(): void {
    this.#connections.close()
  }

  readonly #wordHttp1 = ({ path, authorization, body }: QuestionText): string => {
    const credentials = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
    return `POST ${path} HTTP/1.1\r\n${this.#head}${credentials}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }

  readonly #wordHttp2 = ({ path, authorization, body }: QuestionText): OutgoingHttpHeaders => {
    const { userAgent } = this.#settings
    return {
      ':method': 'POST',
      ':path': path,
      ':authority': this.#url.host,
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      ...(authorization === undefined ? {} : { authorization }),
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'content-length': Buffer.byteLength(body),
    }
  }

  #open(): Opened | Promise<Opened> {
    const { address, dial } = this.#settings
    const named = hostOf(this.#url)
    const place = address ?? { host: named, port: portOf(this.#url) }
    const isPlain = this.#url.protocol === 'http:'
    if (dial !== undefined)
      return dial(place.host, place.port).then((socket) => (isPlain ? { socket } : this.#secure({ ...place, socket }, named)))
    return isPlain ? { socket: connectPlain(place), readyOn: 'connect' } : this.#secure(place, named)
  }

  /** `way`: where to, or a connection that leads there. */
  #secure(way: ConnectionOptions, named: string): Opened {
    const { serverName } = this.#settings
    // An address is no name that could be asked for.
    const servername = serverName ?? (isIP(named) === 0 ? named : '')
    const pair = this.#settings.clientPair?.()
    const session = this.#session === undefined || this.#session.pair !== pair ? {} : { session: this.#session.ticket }
    const tls = tlsOptions({ ...this.#settings, ...pair })
    const socket = connectTls({ ...way, ...tls, servername, ALPNProtocols: ['h2', 'http/1.1'], ...session })
    if (this.#shown !== undefined) {
      socket.once('secureConnect', () => {
        this.#lastSocket = socket
      })
    }
    socket.on('session', (ticket: Buffer) => {
      this.#session = { ticket, pair }
    })
    // A session that is not taken any more must not stand in the way for ever.
    socket.on('error', () => {
      this.#session = undefined
    })
    return { socket, readyOn: 'secureConnect' }
  }
}

function sendable(value: string): string {
  if (unsendable.test(value)) throw new Error('a header has letters that cannot be sent')
  return value
}

function endpointAnswer({ body, head: { status, retryAfter, contentType } }: ReadAnswer): EndpointAnswer {
  const seconds = retryAfter === '' ? Number.NaN : Number(retryAfter)
  return { status, body, retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined, contentType }
}
