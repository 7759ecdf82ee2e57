// Fake kubelet: serves the kubelet API, runs commands on this machine, and returns logs that tests write.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { SpdyConnection, type SpdyStream } from '../network/spdy.js'

interface FakeKubeletOptions {
  readonly cert: string
  readonly key: string
  /** CA of accepted client certificates; undefined: no authentication. */
  readonly clientCa?: string
  readonly host?: string
}

interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly client: string | undefined
}

interface Log {
  text: string
  readonly followers: Set<ServerResponse>
}

export class FakeKubelet {
  readonly port: number
  /** All received requests. */
  readonly requests: ReceivedRequest[] = []
  /** Overrides responses; returns true if it responded. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  interceptUpgrade: ((request: IncomingMessage, socket: Duplex) => boolean) | undefined
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()
  readonly #logs = new Map<string, Log>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('tlsClientError', () => undefined)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#record(request)
      if (!this.intercept?.(request, response)) this.#respond(request, response)
    })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      this.#record(request)
      if (!this.interceptUpgrade?.(request, socket)) this.#upgrade(request, socket)
    })
  }

  static async start({ cert, key, clientCa, host = '127.0.0.1' }: FakeKubeletOptions): Promise<FakeKubelet> {
    const server = createServer({
      cert,
      key,
      ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    })
    await once(server.listen(0, host), 'listening')
    return new FakeKubelet(server)
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Appends to the log of a container; `container` is `namespace/pod/container`. */
  log(container: string, text: string): void {
    const log = this.#logOf(container)
    log.text += text
    for (const follower of log.followers) follower.write(text)
  }

  endLog(container: string): void {
    for (const follower of this.#logOf(container).followers) follower.end()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #record(request: IncomingMessage): void {
    const certificate = (request.socket as TLSSocket).getPeerCertificate?.()
    const client = certificate?.subject?.CN
    this.requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      client: client as string | undefined,
    })
  }

  #logOf(container: string): Log {
    const existing = this.#logs.get(container)
    if (existing !== undefined) return existing
    const log = { text: '', followers: new Set<ServerResponse>() }
    this.#logs.set(container, log)
    return log
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://kubelet')
    const [, endpoint, ...container] = url.pathname.split('/')
    if (endpoint === 'containerLogs') this.#respondWithLog(container.join('/'), url.searchParams, response)
    else if (endpoint === 'healthz') response.end('ok')
    else if (endpoint === 'echo') response.end(JSON.stringify({ url: request.url, headers: request.headers, method: request.method }))
    else response.writeHead(404).end('404 page not found\n')
  }

  #respondWithLog(container: string, options: URLSearchParams, response: ServerResponse): void {
    const log = this.#logs.get(options.get('previous') === 'true' ? `${container}/previous` : container)
    if (log === undefined) {
      response.writeHead(400).end(`container "${container.split('/')[2]}" in pod "${container.split('/')[1]}" is waiting to start`)
      return
    }
    const lines = log.text.split('\n').slice(0, -1)
    const tail = options.get('tailLines')
    const kept = tail === null ? lines : lines.slice(lines.length - Number(tail))
    const text = kept.map((line) => `${options.get('timestamps') === 'true' ? '2026-01-01T00:00:00Z ' : ''}${line}\n`).join('')
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    response.write(text.slice(0, Number(options.get('limitBytes') ?? text.length)))
    if (options.get('follow') !== 'true') {
      response.end()
      return
    }
    log.followers.add(response)
    response.once('close', () => log.followers.delete(response))
  }

  #upgrade(request: IncomingMessage, socket: Duplex): void {
    const url = new URL(request.url ?? '/', 'https://kubelet')
    const [, endpoint] = url.pathname.split('/')
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      acceptWebSocket(request, socket, url)
      return
    }
    const offered = String(request.headers['x-stream-protocol-version'] ?? '').split(/, */)
    const protocol = endpoint === 'portForward' ? offered[0] : (offered.find((name) => name.startsWith('v4.')) ?? offered[0])
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    )
    const connection = new SpdyConnection(socket, { isServer: true })
    if (endpoint === 'portForward') servePorts(connection)
    else serveStreams(connection, url, endpoint === 'exec' ? url.searchParams.getAll('command') : undefined)
  }
}

/** exec, or attach without a command: starts when all announced streams are open. */
function serveStreams(connection: SpdyConnection, { searchParams }: URL, command: readonly string[] | undefined): void {
  const wanted = ['error', ...(searchParams.has('input') ? ['stdin'] : []), ...(searchParams.has('output') ? ['stdout'] : [])]
  if (searchParams.has('error') && !searchParams.has('tty')) wanted.push('stderr')
  const streams = new Map<string, SpdyStream>()
  let isStarted = false
  const earlyInput: Buffer[] = []
  connection.on('stream', (stream: SpdyStream) => {
    const type = stream.headers['streamtype'] ?? ''
    streams.set(type, stream)
    void stream.reply()
    if (type === 'stdin') stream.on('data', (chunk: Buffer) => isStarted || earlyInput.push(chunk))
    if (isStarted || !wanted.every((name) => streams.has(name))) return
    isStarted = true
    if (command === undefined) echoInput(connection, streams, earlyInput)
    else run(connection, streams, command, earlyInput)
  })
}

/** Attach: writes a greeting, then echoes stdin. */
function echoInput(connection: SpdyConnection, streams: ReadonlyMap<string, SpdyStream>, earlyInput: readonly Buffer[]): void {
  const out = streams.get('stdout')
  const input = streams.get('stdin')
  out?.write('attached\n')
  for (const chunk of earlyInput) out?.write(`echo ${String(chunk)}`)
  input?.on('data', (chunk: Buffer) => out?.write(`echo ${String(chunk)}`))
  const finish = (): void => finishStreams(connection, streams, 0)
  if (input === undefined) setTimeout(finish, 50)
  else input.on('end', finish)
}

function run(
  connection: SpdyConnection,
  streams: ReadonlyMap<string, SpdyStream>,
  command: readonly string[],
  earlyInput: readonly Buffer[],
): void {
  const [file = '', ...args] = command
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  connection.on('close', () => child.kill('SIGKILL'))
  child.stdin.on('error', () => undefined)
  for (const name of ['stdout', 'stderr'] as const) {
    const source = child[name]
    source.on('data', (chunk: Buffer) => {
      if (streams.get(name)?.write(chunk) ?? true) return
      source.pause()
      connection.socket.once('drain', () => source.resume())
    })
  }
  const input = streams.get('stdin')
  if (input === undefined) child.stdin.end()
  for (const chunk of earlyInput) child.stdin.write(chunk)
  input?.on('data', (chunk: Buffer) => child.stdin.write(chunk))
  input?.on('end', () => child.stdin.end())
  child.on('error', () => finishStreams(connection, streams, 127))
  child.on('close', (code) => finishStreams(connection, streams, code ?? 1))
}

function finishStreams(connection: SpdyConnection, streams: ReadonlyMap<string, SpdyStream>, code: number): void {
  const failure = {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
  streams.get('error')?.write(JSON.stringify(code === 0 ? { metadata: {}, status: 'Success' } : failure))
  for (const stream of streams.values()) stream.end()
  void connection.flushed().then(() => setTimeout(() => connection.end(), 100))
}

/** Each forwarded connection is a pair of streams: data and error. */
function servePorts(connection: SpdyConnection): void {
  const errors = new Map<string, SpdyStream>()
  connection.on('stream', (stream: SpdyStream) => {
    const { streamtype, port = '', requestid = '' } = stream.headers
    void stream.reply()
    if (streamtype === 'error') {
      errors.set(requestid, stream)
      return
    }
    const target: Socket = connect(Number(port), '127.0.0.1')
    const fail = (error: Error): void => {
      errors.get(requestid)?.write(`cannot connect to port ${port}: ${error.message}`)
      errors.get(requestid)?.end()
      stream.end()
    }
    target.on('error', fail)
    stream.on('data', (chunk: Buffer) => target.write(chunk))
    stream.on('end', () => target.end())
    target.on('data', (chunk: Buffer) => {
      if (stream.write(chunk)) return
      target.pause()
      connection.socket.once('drain', () => target.resume())
    })
    target.on('end', () => {
      stream.end()
      errors.get(requestid)?.end()
    })
    connection.on('close', () => target.destroy())
  })
}

/** Appended to the key of the client, as RFC 6455 demands. */
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Sends a greeting on the stdout channel, then the query. */
function acceptWebSocket(request: IncomingMessage, socket: Duplex, url: URL): void {
  const [protocol = ''] = String(request.headers['sec-websocket-protocol'] ?? '').split(/, */)
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${webSocketGuid}`).digest('base64')
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const text = Buffer.from(`\u0001hello ${url.search}`)
  socket.write(Buffer.concat([Buffer.from([0x82, text.length]), text]))
  socket.on('data', () => undefined)
  socket.on('end', () => socket.end())
}
