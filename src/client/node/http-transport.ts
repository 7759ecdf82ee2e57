// Requests over Node's own HTTP: connections are kept and used again, and closed when the certificate changes that they were made with.

import { setMaxListeners } from 'node:events'
import { type ClientRequest, type RequestOptions as HttpOptions, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { type OptionNames, refuseUnknownOptions } from '../../base/known-options.js'
import { BoundedBody } from '../bounded-body.js'
import { ConnectionError, closedError } from '../errors.js'
import { connectionError } from '../requester.js'
import type { Credential, MessageSocket, SocketRequest, Transport, TransportRequest, TransportResponse } from '../transport.js'
import { type Agents, makeAgents } from './agents.js'
import { tapOf, tapWithBody } from './answer-tap.js'
import { ChunkIterator, isOver } from './chunk-iterator.js'
import { decodeText } from './decode-text.js'
import { upgradeToSocket } from './web-socket.js'

export interface TlsSettings {
  /** PEM; left out: those of the system. */
  readonly ca?: string | undefined
  /** Any certificate of the server will do. */
  readonly insecure?: boolean | undefined
  /** The name that the server's certificate must have, where it is not that of the address. */
  readonly serverName?: string | undefined
}

export interface HttpTransportSettings {
  /** Such as `https://127.0.0.1:6443`, with a path where the API lies below one. */
  readonly server: string
  readonly tls?: TlsSettings | undefined
  /** `http:`, `https:` or `socks5:`, with user and password where it wants them. */
  readonly proxyUrl?: string | undefined
}

export interface Upgraded {
  readonly message: IncomingMessage
  /** Where there is one, with what came over it already. */
  readonly socket?: Socket
  readonly head?: Buffer
}

const names: OptionNames<HttpTransportSettings> = { server: true, tls: true, proxyUrl: true }
const tlsNames: OptionNames<TlsSettings> = { ca: true, insecure: true, serverName: true }

export class HttpTransport implements Transport {
  private readonly settings: HttpTransportSettings
  private readonly url: URL
  private readonly basePath: string
  private certificate: Credential['certificate']
  private agents: Agents | undefined
  private isClosed = false
  private readonly upgraded = new Set<Socket>()
  /** Of connections that are about to be such. */
  private readonly upgrading = new Set<Agents>()

  constructor(settings: HttpTransportSettings) {
    refuseUnknownOptions('HttpTransport', settings, names)
    refuseUnknownOptions('HttpTransport: tls', settings.tls ?? {}, tlsNames)
    this.settings = settings
    this.url = readServerUrl(settings.server)
    this.basePath = this.url.pathname.replace(/\/$/, '')
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    if (this.isClosed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => reject(this.explain(thrown, `${request.method} ${this.settings.server}`, request.signal))
      const body = typeof request.body === 'string' && !isAscii(request.headers) ? Buffer.from(request.body) : request.body
      // Said by us, because Node does not say it for every method that may have a body.
      const length = body === undefined ? undefined : { 'content-length': String(Buffer.byteLength(body)) }
      let sent: ClientRequest
      try {
        const headers = length === undefined ? request.headers : { ...request.headers, ...length }
        sent = this.start(request, headers, this.agentFor(request.credential))
      } catch (thrown) {
        // Node throws at once what TLS finds wrong with the settings; what can be no request at all is a mistake in the program.
        if (thrown instanceof TypeError) reject(thrown)
        else fail(thrown)
        return
      }
      let hasAnswer = false
      sent.on('socket', (socket) => tapOf(socket)?.begin())
      sent.on('error', (error: Error) => {
        // A connection that was kept too long is closed by the other side just as it is used again; to read once more does no harm.
        if (sent.reusedSocket && !hasAnswer && request.method === 'GET' && (error as { code?: string }).code === 'ECONNRESET') {
          this.send(request).then(resolve, reject)
        } else fail(error)
      })
      sent.on('response', (message) => {
        hasAnswer = true
        tapOf(message.socket)?.answered(message)
        resolve(responseOf(message, (thrown) => this.explain(thrown, `the answer of ${this.settings.server} broke off`, request.signal)))
      })
      sent.end(body)
    })
  }

  openSocket(request: SocketRequest): Promise<MessageSocket> {
    if (this.isClosed) return Promise.reject(closedError())
    // Never over a kept connection, which the other side may be about to close: what was begun twice would run twice.
    const agent = makeAgents(this.url, { ...this.settings, certificate: this.useCertificate(request.credential), keepAlive: false })
    const start = (headers: TransportRequest['headers']): ClientRequest =>
      this.start({ ...request, method: 'GET' }, { ...request.headers, ...headers }, agent)
    const onOpen = (socket: Socket): void => {
      this.upgraded.add(socket)
      const stop = (): unknown => socket.destroy()
      request.signal?.addEventListener('abort', stop, { once: true })
      socket.once('close', () => {
        this.upgraded.delete(socket)
        request.signal?.removeEventListener('abort', stop)
      })
    }
    const explain = (thrown: unknown): unknown =>
      this.explain(thrown, `the connection to ${this.settings.server} broke off`, request.signal)
    this.upgrading.add(agent)
    return upgradeToSocket(request.protocols, start, onOpen, explain)
      .catch((thrown: unknown) => {
        throw this.explain(thrown, `cannot connect to ${this.settings.server}`, request.signal)
      })
      .finally(() => this.upgrading.delete(agent))
  }

  /** For who speaks another protocol himself, for which the headers ask: the answer, and the connection where the server has changed to it. */
  async upgrade(request: TransportRequest): Promise<Upgraded> {
    if (this.isClosed) throw closedError()
    const agent = makeAgents(this.url, { ...this.settings, certificate: this.useCertificate(request.credential), keepAlive: false })
    this.upgrading.add(agent)
    try {
      return await new Promise<Upgraded>((resolve, reject) => {
        const sent = this.start(request, request.headers, agent)
        sent.on('error', reject)
        sent.on('response', (message) => resolve({ message }))
        sent.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
          this.upgraded.add(socket)
          socket.once('close', () => this.upgraded.delete(socket))
          resolve({ message, socket, head })
        })
        sent.end()
      })
    } catch (thrown) {
      throw this.explain(thrown, `cannot connect to ${this.settings.server}`, request.signal)
    } finally {
      this.upgrading.delete(agent)
    }
  }

  close(): void {
    this.isClosed = true
    this.disconnect()
  }

  private disconnect(): void {
    this.agents?.destroy()
    this.agents = undefined
    for (const agents of this.upgrading) agents.destroy()
    for (const socket of this.upgraded) socket.destroy()
  }

  /** What ends because the client was closed says so. */
  private explain(thrown: unknown, where: string, signal: AbortSignal | undefined): unknown {
    return this.isClosed && signal?.aborted !== true ? closedError() : connectionError(thrown, where, signal)
  }

  private start(request: Omit<TransportRequest, 'headers'>, headers: TransportRequest['headers'], agent: Agents): ClientRequest {
    const { protocol, hostname, port } = this.url
    const options: HttpOptions = {
      method: request.method,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: `${this.basePath}${request.path}`,
      headers: headers as Record<string, string | string[]>,
      agent,
      ...(request.signal === undefined ? {} : { signal: forMany(request.signal) }),
    }
    return protocol === 'https:' ? requestHttps(options) : requestHttp(options)
  }

  private agentFor(credential: Credential): Agents {
    const certificate = this.useCertificate(credential)
    this.agents ??= makeAgents(this.url, { ...this.settings, certificate })
    return this.agents
  }

  /** With another certificate than before, what was connected with the old one is over. */
  private useCertificate({ certificate }: Credential): Credential['certificate'] {
    const known = this.certificate
    if (known?.cert !== certificate?.cert || known?.key !== certificate?.key) {
      this.disconnect()
      this.certificate = certificate
    }
    return certificate
  }
}

/** Whether the head is the same bytes in every encoding: Node writes a head together with a body that is a text in the encoding of the body. */
function isAscii(headers: TransportRequest['headers']): boolean {
  for (const name in headers) {
    const value = headers[name] as string | readonly string[]
    if (typeof value === 'string' ? beyondAscii.test(value) : value.some((one) => beyondAscii.test(one))) return false
  }
  return true
}

const beyondAscii = /[^\x00-\x7f]/

function readServerUrl(server: string): URL {
  const text = server.includes('://') ? server : `http://${server}`
  if (!URL.canParse(text)) throw new ConnectionError(`${JSON.stringify(server)} is no address of a server`)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ConnectionError(`${JSON.stringify(server)} is neither http nor https`)
  return url
}

/** One signal may end any number of requests: Node would warn of a leak when more than ten listen to it. */
function forMany(signal: AbortSignal): AbortSignal {
  setMaxListeners(Number.POSITIVE_INFINITY, signal)
  return signal
}

function responseOf(message: IncomingMessage, explain: (thrown: unknown) => unknown): TransportResponse {
  return {
    status: message.statusCode ?? 0,
    header: (name) => {
      const value = message.headers[name]
      return value === undefined ? '' : typeof value === 'string' ? value : value.join(', ')
    },
    text: () => readText(message, explain),
    chunks: () => readChunks(message, explain),
    forEachChunk: (take) => takeChunks(message, take, explain),
    decode: decodeText,
    discard: () => {
      tapWithBody(message)?.passBody()
      message.resume()
    },
  }
}

async function readText(message: IncomingMessage, explain: (thrown: unknown) => unknown): Promise<string> {
  const body = new BoundedBody(message.statusCode ?? 0)
  await takeChunks(message, (chunk) => body.append(chunk), explain)
  return decodeText(body.bytes)
}

function takeChunks(message: IncomingMessage, take: (chunk: Uint8Array) => void, explain: (thrown: unknown) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (isOver(message)) return reject(explain(new Error('it was cut off before it was read')))
    const fail = (error: Error): void => reject(explain(error))
    message.on('error', fail)
    message.on('aborted', () => fail(new Error('it was cut off')))
    message.on('end', resolve)
    const takeOne = (chunk: Uint8Array): void => {
      try {
        take(chunk)
      } catch (error) {
        reject(error)
        message.destroy()
      }
    }
    const tap = tapWithBody(message)
    if (tap === undefined) message.on('data', takeOne)
    else {
      message.resume()
      tap.takeBody(takeOne, fail)
    }
  })
}

/** Without the machinery of streams, which costs more than the reading. */
function readChunks(message: IncomingMessage, explain: (thrown: unknown) => unknown): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new ChunkIterator(message, explain) }
}
