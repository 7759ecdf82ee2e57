// Limits on request bodies: against thousands of tiny chunks, and endless bodies after the response.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

/** This many chunks, of at most this size on average, are an attack: each chunk costs microseconds however short it is. */
const maxTinyChunks = 1_000
const tinyChunkBytes = 256

export class BodyChunkCounter {
  readonly #request: IncomingMessage | Http2ServerRequest
  #chunks = 0
  #bytes = 0

  constructor(request: IncomingMessage | Http2ServerRequest) {
    this.#request = request
  }

  /** Counts a chunk; closes the connection of a body in 1,000 or more tiny chunks. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (++this.#chunks < maxTinyChunks || this.#bytes > this.#chunks * tinyChunkBytes) return
    const request = this.#request
    if ('stream' in request) setImmediate(() => request.stream.session?.destroy(undefined, enhanceYourCalm))
    else request.destroy()
  }
}

/** HTTP/2 error code ENHANCE_YOUR_CALM: the peer causes too much load. */
export const enhanceYourCalm = 11

/** More than the largest accepted body, so that a client within the limits always gets its response. */
const maxUnreadBytes = 4 << 20
const checkIntervalMs = 100

/** Limits the rest of an HTTP/1.1 body, which Node.js reads and drops after the response to reuse the connection. */
export function limitUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasLongBody(request)) return
  response.once('prefinish', () => {
    if (request.complete) return
    const { socket } = request
    // Node.js drops an unread body without 'data' events.
    if (request.readableFlowing === null) {
      const chunks = new BodyChunkCounter(request)
      request.on('data', (chunk: Buffer) => chunks.count(chunk.length))
    }
    const maxBytesRead = socket.bytesRead + maxUnreadBytes
    const stop = (): void => clearInterval(checker)
    const checker = setInterval(() => {
      if (request.complete) {
        stop()
        socket.off('close', stop)
      } else if (socket.bytesRead > maxBytesRead) socket.destroy()
    }, checkIntervalMs).unref()
    socket.once('close', stop)
  })
}

/** True for bodies of at least 1,000 bytes or unknown length. */
const hasLongBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length']?.length ?? 0) > 3
