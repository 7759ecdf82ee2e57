// Upgrade requests (WebSocket, SPDY). Node.js hands over the socket without a response, so one is created here:
// a listener that does not upgrade responds as usual, and the connection is closed.

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpResponse } from './http-messages.js'

/** Bytes that the client may send before the upgrade; then reading is paused. */
const maxEarlyBytes = 64 << 10

const upgradable = new WeakMap<object, UpgradableConnection>()

/** A connection that may be upgraded; read until then, so that a disconnect is noticed. */
class UpgradableConnection {
  readonly #socket: Socket
  readonly #onUpgrade: () => void
  readonly #onData = (chunk: Buffer): void => this.#add(chunk)
  readonly #onEnd = (): void => void this.#socket.destroy()
  #early: Buffer[] = []
  #bytes = 0

  constructor(socket: Socket, head: Buffer, onUpgrade: () => void) {
    this.#socket = socket
    this.#onUpgrade = onUpgrade
    if (head.length > 0) this.#add(head)
    socket.on('data', this.#onData)
    socket.once('end', this.#onEnd)
  }

  /** Returns the paused socket, and the bytes that the client has sent early. */
  take(): { readonly socket: Socket; readonly early: Buffer } {
    this.#socket.pause()
    this.#socket.off('data', this.#onData)
    this.#socket.off('end', this.#onEnd)
    const early = Buffer.concat(this.#early)
    this.#early = []
    this.#onUpgrade()
    return { socket: this.#socket, early }
  }

  #add(chunk: Buffer): void {
    this.#early.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > maxEarlyBytes) this.#socket.pause()
  }
}

/** Returns undefined if the client did not request an upgrade. */
export const upgradableConnection = (response: HttpResponse): UpgradableConnection | undefined => upgradable.get(response)

/** Creates a response on a socket that Node.js has released. `onUpgrade` is called when the connection is upgraded. */
export function createUpgradeResponse(socket: Socket, request: IncomingMessage, head: Buffer, onUpgrade: () => void): ServerResponse {
  const response = new ServerResponse(request)
  response.setHeader('Connection', 'close')
  socket.on('error', ignore)
  response.assignSocket(socket)
  upgradable.set(response, new UpgradableConnection(socket, head, onUpgrade))
  // Node.js has removed its 'drain' listener with its parser.
  socket.on('drain', () => response.writableNeedDrain && response.emit('drain'))
  response.once('finish', () => socket.destroySoon())
  return response
}

const ignore = (): void => undefined

/** True for a request with a body, which Node.js does not read from an upgrade request. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The bytes of the request without its `Upgrade` header. */
export function requestWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}
