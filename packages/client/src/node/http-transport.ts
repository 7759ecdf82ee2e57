// Transport over node:http and ws: keep-alive, TLS, proxies. A new client certificate closes old connections.

import { setMaxListeners } from 'node:events'
import {
  type ClientRequest,
  Agent as HttpAgent,
  type RequestOptions as HttpOptions,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { ClientOptions } from 'ws'
import { ConnectionError, closedError, connectionError, type StatusBody, StatusError } from '../errors.js'
import { BoundedBody, decodeText } from '../transport/byte-buffer.js'
import type { Credential, MessageSocket, SocketRequest, Transport, TransportRequest, TransportResponse } from '../transport/transport.js'
import { type WebSocketLike, WebSocketMessages } from '../transport/web-socket-messages.js'
import { openTunnel } from './proxy-tunnel.js'

export interface TlsSettings {
  /** PEM. Default: the root certificates of Node.js. */
  readonly ca?: string | undefined
  /** Accepts any server certificate. */
  readonly insecure?: boolean | undefined
  /** Expected host name in the server certificate, if it differs from the address. */
  readonly serverName?: string | undefined
}

export interface HttpTransportSettings {
  /** Such as `https://127.0.0.1:6443`, optionally with a base path. */
  readonly server: string
  readonly tls?: TlsSettings | undefined
  /** `http:`, `https:` or `socks5:` URL, optionally with user and password. */
  readonly proxyUrl?: string | undefined
}

interface Upgraded {
  readonly message: IncomingMessage
  readonly socket?: Socket
  readonly head?: Buffer
}

const optionNames: OptionNames<HttpTransportSettings> = { server: true, tls: true, proxyUrl: true }
const tlsNames: OptionNames<TlsSettings> = { ca: true, insecure: true, serverName: true }

export class HttpTransport implements Transport {
  private readonly settings: HttpTransportSettings
  private readonly url: URL
  private readonly basePath: string
  private certificate: Credential['certificate']
  private agent: HttpAgent | undefined
  private isClosed = false
  /** Functions that close one upgraded connection each. */
  private readonly upgradedClosers = new Set<() => void>()
  private readonly upgradingAgents = new Set<HttpAgent>()

  constructor(settings: HttpTransportSettings) {
    refuseUnknownOptions('HttpTransport', settings, optionNames)
    refuseUnknownOptions('HttpTransport: tls', settings.tls ?? {}, tlsNames)
    this.settings = settings
    this.url = readServerUrl(settings.server)
    this.basePath = this.url.pathname.replace(/\/$/, '')
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    if (this.isClosed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown): void => reject(this.explain(thrown, `${request.method} ${this.settings.server}`, request.signal))
      // Node.js writes the head in the encoding of a string body, which would break header bytes.
      const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
      // Node.js does not set content-length for DELETE.
      const length = body === undefined ? undefined : { 'content-length': String(body.length) }
      let outgoing: ClientRequest
      try {
        const headers = length === undefined ? request.headers : { ...request.headers, ...length }
        outgoing = this.startRequest(request, headers, this.agentFor(request.credential))
      } catch (thrown) {
        // Node.js throws TLS settings errors synchronously. A TypeError is an invalid request of the caller.
        if (thrown instanceof TypeError) reject(thrown)
        else fail(thrown)
        return
      }
      let hasResponse = false
      outgoing.on('error', (error: Error) => {
        // The server may close an idle connection while it is reused; a GET can be repeated safely.
        if (outgoing.reusedSocket && !hasResponse && request.method === 'GET' && (error as { code?: string }).code === 'ECONNRESET') {
          this.send(request).then(resolve, reject)
        } else fail(error)
      })
      outgoing.on('response', (message) => {
        hasResponse = true
        resolve(responseOf(message, (thrown) => this.explain(thrown, `the response of ${this.settings.server} broke off`, request.signal)))
      })
      outgoing.end(body)
    })
  }

  async openSocket(request: SocketRequest): Promise<MessageSocket> {
    if (this.isClosed) throw closedError()
    // Uses a new connection: retrying after a failed reuse could run the command of an exec twice.
    const agent = createAgent(this.url, { ...this.settings, certificate: this.useCertificate(request.credential), keepAlive: false })
    const { server } = this.settings
    this.upgradingAgents.add(agent)
    try {
      return await openWebSocket(`${this.url.origin}${this.basePath}${request.path}`, {
        ...request,
        agent,
        onOpen: (terminate) => {
          this.upgradedClosers.add(terminate)
          return () => this.upgradedClosers.delete(terminate)
        },
        isClosed: () => this.isClosed,
        explain: (thrown) => this.explain(thrown, `the connection to ${server} broke off`, request.signal),
      })
    } catch (thrown) {
      throw this.explain(thrown, `cannot connect to ${server}`, request.signal)
    } finally {
      this.upgradingAgents.delete(agent)
    }
  }

  /** Sends an Upgrade request. Returns the response, and the socket if the server switched protocols. */
  async upgrade(request: TransportRequest): Promise<Upgraded> {
    if (this.isClosed) throw closedError()
    const agent = createAgent(this.url, { ...this.settings, certificate: this.useCertificate(request.credential), keepAlive: false })
    this.upgradingAgents.add(agent)
    try {
      return await new Promise<Upgraded>((resolve, reject) => {
        const outgoing = this.startRequest(request, request.headers, agent)
        outgoing.on('error', reject)
        outgoing.on('response', (message) => resolve({ message }))
        outgoing.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
          const end = (): void => void socket.destroy()
          this.upgradedClosers.add(end)
          socket.once('close', () => this.upgradedClosers.delete(end))
          resolve({ message, socket, head })
        })
        outgoing.end()
      })
    } catch (thrown) {
      throw this.explain(thrown, `cannot connect to ${this.settings.server}`, request.signal)
    } finally {
      this.upgradingAgents.delete(agent)
    }
  }

  close(): void {
    this.isClosed = true
    this.disconnect()
  }

  private disconnect(): void {
    this.agent?.destroy()
    this.agent = undefined
    for (const agent of this.upgradingAgents) agent.destroy()
    for (const end of this.upgradedClosers) end()
  }

  private explain(thrown: unknown, where: string, signal: AbortSignal | undefined): unknown {
    return this.isClosed && signal?.aborted !== true ? closedError() : connectionError(thrown, where, signal)
  }

  private startRequest(request: Omit<TransportRequest, 'headers'>, headers: TransportRequest['headers'], agent: HttpAgent): ClientRequest {
    const { protocol, hostname, port } = this.url
    const options: HttpOptions = {
      method: request.method,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: `${this.basePath}${request.path}`,
      headers: headers as Record<string, string | string[]>,
      agent,
      ...(request.signal === undefined ? {} : { signal: allowManyListeners(request.signal) }),
    }
    return protocol === 'https:' ? requestHttps(options) : requestHttp(options)
  }

  private agentFor(credential: Credential): HttpAgent {
    const certificate = this.useCertificate(credential)
    this.agent ??= createAgent(this.url, { ...this.settings, certificate })
    return this.agent
  }

  /** Closes all connections if the client certificate has changed. */
  private useCertificate({ certificate }: Credential): Credential['certificate'] {
    const current = this.certificate
    if (current?.cert !== certificate?.cert || current?.key !== certificate?.key) {
      this.disconnect()
      this.certificate = certificate
    }
    return certificate
  }
}

function readServerUrl(server: string): URL {
  const text = server.includes('://') ? server : `http://${server}`
  if (!URL.canParse(text)) throw new ConnectionError(`${JSON.stringify(server)} is not a valid server URL`)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ConnectionError(`server URL ${JSON.stringify(server)} is neither http nor https`)
  return url
}

/** Disables the leak warning of Node.js for signals with more than ten listeners. */
function allowManyListeners(signal: AbortSignal): AbortSignal {
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
    discard: () => void message.resume(),
  }
}

async function readText(message: IncomingMessage, explain: (thrown: unknown) => unknown): Promise<string> {
  const body = new BoundedBody(message.statusCode ?? 0)
  for await (const chunk of readChunks(message, explain)) body.append(chunk)
  return decodeText(body.bytes)
}

/** Yields the body; a reader that stops early closes the connection. */
async function* readChunks(message: IncomingMessage, explain: (thrown: unknown) => unknown): AsyncGenerator<Uint8Array> {
  try {
    yield* message as AsyncIterable<Uint8Array>
  } catch (thrown) {
    throw explain(thrown)
  }
}

interface AgentSettings {
  readonly tls?: TlsSettings | undefined
  readonly proxyUrl?: string | undefined
  readonly certificate: Credential['certificate']
  readonly keepAlive?: boolean
}

const idleTimeoutMs = 60_000

function createAgent(server: URL, { tls = {}, proxyUrl, certificate, keepAlive = true }: AgentSettings): HttpAgent {
  const agentOptions = { keepAlive, keepAliveMsecs: 15_000, timeout: idleTimeoutMs, scheduling: 'lifo' as const }
  const isTls = server.protocol === 'https:'
  const secure: ConnectionOptions = {
    // As in Go, a trusted intermediate or leaf certificate is enough.
    ...(tls.ca === undefined ? {} : { ca: tls.ca, allowPartialTrustChain: true }),
    ...(tls.insecure === true ? { rejectUnauthorized: false } : {}),
    ...(tls.serverName === undefined || tls.serverName === '' ? {} : { servername: tls.serverName }),
    ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
  }
  const agent = isTls ? new HttpsAgent({ ...agentOptions, ...secure }) : new HttpAgent(agentOptions)
  if (proxyUrl !== undefined) connectThroughProxy(agent, { server, proxyUrl, secure: isTls ? secure : undefined })
  return agent
}

interface ProxyRoute {
  readonly server: URL
  readonly proxyUrl: string
  readonly secure: ConnectionOptions | undefined
}

type ConnectCallback = (error: Error | null, socket?: Socket) => void

/** Tunnels plain HTTP as well, so that the proxy needs only the address and does not change requests. */
function connectThroughProxy(agent: HttpAgent, { server, proxyUrl, secure }: ProxyRoute): void {
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const port = Number(server.port || (secure === undefined ? 80 : 443))
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  const connect = async (): Promise<Socket> => {
    const tunnel = await openTunnel(new URL(proxyUrl), { host, port }, closing.signal)
    if (secure === undefined) return tunnel
    return connectTls({ servername: /^[\d.]+$|:/.test(host) ? '' : host, ...secure, host, socket: tunnel })
  }
  const destroy = agent.destroy.bind(agent)
  Object.assign(agent, {
    destroy: (): void => {
      closing.abort()
      destroy()
    },
    createConnection: (_options: unknown, callback: ConnectCallback): void => {
      connect().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error),
      )
    },
  })
}

interface WebSocketRequest extends Pick<SocketRequest, 'headers' | 'protocols' | 'signal'> {
  readonly agent: HttpAgent
  /** Registers `terminate`; returns the function that unregisters it. */
  readonly onOpen: (terminate: () => void) => () => void
  readonly isClosed: () => boolean
  readonly explain: (thrown: unknown) => unknown
}

const maxMessageBytes = 64 * 1024 * 1024
/** Time until a closed connection is destroyed if the server does not close it. */
const closeTimeoutMs = 1000

/** Rejects with a StatusError if the server does not switch protocols. */
async function openWebSocket(
  url: string,
  { headers, protocols, signal, agent, onOpen, isClosed, explain }: WebSocketRequest,
): Promise<MessageSocket> {
  const { WebSocket } = await import('ws')
  if (isClosed()) throw new ConnectionError('the client is closed')
  signal?.throwIfAborted()
  const options = {
    agent,
    headers,
    maxPayload: maxMessageBytes,
    closeTimeout: closeTimeoutMs,
    perMessageDeflate: false,
  } as unknown as ClientOptions
  const socket = new WebSocket(url, [...protocols], options)
  socket.binaryType = 'arraybuffer'
  const terminate = (): void => {
    socket.terminate()
    agent.destroy()
  }
  const unsubscribe = signal === undefined ? () => undefined : onAbort(signal, terminate)
  return new Promise((resolve, reject) => {
    const fail = (thrown: unknown): void => {
      unsubscribe()
      reject(thrown)
    }
    socket.onerror = ({ error }) => fail(error)
    socket.on('unexpected-response', (request, response) => {
      statusErrorOf(response)
        .then(fail, fail)
        .finally(() => request.destroy())
    })
    socket.onopen = () => {
      const unregister = onOpen(terminate)
      const onClose = (): void => {
        unsubscribe()
        unregister()
      }
      resolve(new WebSocketMessages(socket as unknown as WebSocketLike, { onClose, explain }))
    }
  })
}

/** Reads the Status of a response that did not switch protocols. */
async function statusErrorOf(message: IncomingMessage): Promise<StatusError> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) if (text.length < 100_000) text += chunk
  const code = message.statusCode ?? 500
  try {
    const status = JSON.parse(text) as StatusBody
    if (status.kind === 'Status') return new StatusError(status, code)
  } catch {
    // Plain text becomes the message.
  }
  return new StatusError(
    { code, message: text.trim().slice(0, 1000) || `the server responded with ${code} and did not upgrade the connection` },
    code,
  )
}
