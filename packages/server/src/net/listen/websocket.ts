// WebSocket connections for watches and logs (ws): fragmented messages with back-pressure. Messages of the client are ignored.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import type { HttpRequest, HttpResponse } from './http-messages.js'
import { upgradableConnection } from './upgrade.js'

interface HandshakeRefusal {
  readonly code: number
  readonly text: string
  readonly headers?: { readonly [name: string]: string }
}

export interface WebSocketHandshake {
  readonly key: string
  /** Subprotocols in the client's order, without the one that carries a bearer token. */
  readonly protocols: readonly string[]
  /** The `Origin` header; empty if there is none. */
  readonly origin: string
  readonly refusal?: HandshakeRefusal
}

/** Browsers can send a bearer token only as a subprotocol, which must be neither echoed nor forwarded. */
export const isTokenProtocol = (name: string): boolean => name.startsWith('base64url.bearer.authorization.')

/** Returns undefined if the request is not a WebSocket handshake over HTTP/1.1. */
export function webSocketHandshake(request: HttpRequest, response: HttpResponse): WebSocketHandshake | undefined {
  const { headers } = request
  if (headers.upgrade?.toLowerCase() !== 'websocket' || upgradableConnection(response) === undefined) return undefined
  const key = textOf(headers['sec-websocket-key'])
  const protocols = textOf(headers['sec-websocket-protocol'])
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !isTokenProtocol(name))
  const handshake = { key, protocols, origin: textOf(headers.origin) }
  if (request.method !== 'GET') return { ...handshake, refusal: { code: 405, text: 'bad method' } }
  if (!challengePattern.test(key)) return { ...handshake, refusal: { code: 400, text: 'mismatch challenge/response' } }
  if (textOf(headers['sec-websocket-version']) !== '13')
    return { ...handshake, refusal: { code: 400, text: 'missing or bad WebSocket Version', headers: { 'Sec-WebSocket-Version': '13' } } }
  if (!protocols.every((name) => tokenPattern.test(name))) return { ...handshake, refusal: { code: 400, text: 'bad WebSocket Protocol' } }
  return handshake
}

/** 16 bytes in base64. */
const challengePattern = /^[+/0-9A-Za-z]{22}==$/
/** Token of RFC 6455. */
const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const textOf = (header: string | string[] | undefined): string => (Array.isArray(header) ? header.join(',') : (header ?? '')).trim()

/** Accepts a handshake on an upgraded connection; throws if it is invalid or the client has disconnected. */
export function acceptWebSocket(
  request: IncomingMessage,
  { socket, early }: { readonly socket: Duplex; readonly early: Buffer },
  { protocol, maxPayload }: { readonly protocol: string | undefined; readonly maxPayload: number },
): WebSocket {
  const handleProtocols = (): string | false => protocol ?? false
  const options: ServerOptions & { readonly closeTimeout: number } = { noServer: true, maxPayload, closeTimeout, handleProtocols }
  let accepted: WebSocket | undefined
  new WebSocketServer({ ...options, clientTracking: false, perMessageDeflate: false }).handleUpgrade(request, socket, early, (opened) => {
    accepted = opened
  })
  if (accepted === undefined) throw new Error('the client has closed the connection')
  return accepted
}

/** TCP keep-alive detects dead clients. */
const keepAliveMs = 30_000
/** Maximum payload of a client's message, in bytes. */
const maxPayload = 64 << 10
/** Clients of watches and logs send only pings. */
const maxFramesPerSecond = 1_000
/** Milliseconds until a closed connection is destroyed if the client does not close it. */
const closeTimeout = 5_000

export class WebSocketConnection {
  readonly #socket: WebSocket
  readonly #bufferBytes: number
  #onDrain: () => void = () => undefined
  /** True from a send beyond the buffer limit until the bytes are sent. */
  #isWaitingForDrain = false

  /** Accepts a handshake. `bufferBytes`: maximum number of unsent bytes. */
  static accept(
    request: HttpRequest,
    response: HttpResponse,
    { protocol, bufferBytes }: { readonly protocol?: string | undefined; readonly bufferBytes: number },
  ): WebSocketConnection {
    const upgraded = upgradableConnection(response)?.take()
    if (upgraded === undefined) throw new Error('the client did not request an upgrade')
    const { socket, early } = upgraded
    // Marks the response as started; ws writes the head to the socket.
    if ('assignSocket' in response) response.writeHead(101)
    socket.setKeepAlive(true, keepAliveMs)
    const accepted = acceptWebSocket(request as IncomingMessage, { socket, early }, { protocol, maxPayload })
    socket.resume()
    return new WebSocketConnection(accepted, bufferBytes)
  }

  private constructor(socket: WebSocket, bufferBytes: number) {
    this.#socket = socket
    this.#bufferBytes = bufferBytes
    // ws closes the connection with the code of the error.
    socket.on('error', () => undefined)
    let frames = 0
    const count = (): void => {
      if (frames++ === 0) setTimeout(() => (frames = 0), 1_000).unref()
      if (frames > maxFramesPerSecond) socket.terminate()
    }
    for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, count)
  }

  get isWritable(): boolean {
    return this.#socket.bufferedAmount < this.#bufferBytes
  }

  /** Calls back when the buffer has drained. */
  onDrain(resume: () => void): void {
    this.#onDrain = resume
  }

  /** Sends a message or a fragment of one; returns false if the buffer is full. */
  send(kind: 'text' | 'binary', bytes: Uint8Array, isLast = true): boolean {
    this.#socket.send(bytes, { binary: kind === 'binary', fin: isLast }, () => {
      if (this.#isWaitingForDrain && this.isWritable) {
        this.#isWaitingForDrain = false
        this.#onDrain()
      }
    })
    this.#isWaitingForDrain ||= !this.isWritable
    return !this.#isWaitingForDrain
  }

  /** `isWithinMessage`: the last fragment of a message was not sent, so the connection is terminated. */
  close(isWithinMessage = false): void {
    if (isWithinMessage) this.#socket.terminate()
    else this.#socket.close(1000)
  }
}
