// Requests whose client wants to speak another protocol on the same connection (WebSocket, SPDY): the connection with its answer to come.
//
// Node hands such a connection over as soon as its headers are read, and has no answer for it. So one is made here that behaves like any
// other: whoever does not upgrade just answers, and the connection ends with that. Whoever does takes the connection and lets the answer be.

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Response } from './listen.js'

/** What a client may send before it was answered. */
const mostEarlyBytes = 64 << 10

const offered = new WeakMap<object, OfferedConnection>()

/** A connection that may be taken. It is read from meanwhile, so that it is noticed when its client goes. */
export class OfferedConnection {
  readonly #socket: Socket
  readonly #onTake: () => void
  readonly #keep = (chunk: Buffer): void => this.#add(chunk)
  readonly #leave = (): void => void this.#socket.destroy()
  #early: Buffer[] = []
  #bytes = 0

  constructor(socket: Socket, head: Buffer, onTake: () => void) {
    this.#socket = socket
    this.#onTake = onTake
    if (head.length > 0) this.#add(head)
    socket.on('data', this.#keep)
    socket.once('end', this.#leave)
  }

  /** The connection, and what its client has sent already. Nobody else reads it from now on; it is paused until somebody does. */
  take(): { readonly socket: Socket; readonly early: Buffer } {
    this.#socket.pause()
    this.#socket.off('data', this.#keep)
    this.#socket.off('end', this.#leave)
    const early = Buffer.concat(this.#early)
    this.#early = []
    this.#onTake()
    return { socket: this.#socket, early }
  }

  #add(chunk: Buffer): void {
    this.#early.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > mostEarlyBytes) this.#socket.pause()
  }
}

/** The connection under an answer, where its client asked for another protocol. */
export const offeredConnection = (response: Response): OfferedConnection | undefined => offered.get(response)

/** An answer on a connection that Node has let go of. `onTake`: somebody speaks another protocol on it from now on. */
export function answerOn(socket: Socket, request: IncomingMessage, head: Buffer, onTake: () => void): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  socket.on('error', nothing)
  response.assignSocket(socket)
  offered.set(response, new OfferedConnection(socket, head, onTake))
  // Node's own listener for this went with its parser.
  socket.on('drain', () => response.writableNeedDrain && response.emit('drain'))
  response.once('finish', () => socket.destroySoon())
  return response
}

const nothing = (): void => undefined

/** Whether something comes behind the headers: Node does not read it once a protocol was asked for. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The same request without the wish, as it would have come. */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}
