// What comes on a stream of HTTP/2 in small parts is counted, and kept together while nobody takes it: each frame of one byte would otherwise be kept
// by itself, which takes hundreds of bytes.

import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { GatheredParts } from './gathered-parts.js'
import type { ReadTurns } from './read-turns.js'

const smallBytes = 512
/** So many parts in a row are handed on by themselves. */
const partsByThemselves = 32

/** For a stream on which nothing has come yet. */
export function countHttp2Parts(stream: ServerHttp2Stream, socket: Socket, turns: ReadTurns): void {
  const reading = turns.of(socket)
  /** Made for the first small part: most bodies have none. */
  let small: SmallParts | undefined
  const { push } = stream
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const bytes = chunk === null ? 0 : (chunk as Buffer).length
    reading.bodyBytes += bytes
    if (bytes === 0 || bytes >= smallBytes) {
      small?.handOn()
      return push.call(stream, chunk, encoding)
    }
    turns.count(reading, 1)
    small ??= new SmallParts(stream, push)
    return small.take(chunk as Buffer)
  }
}

class SmallParts {
  readonly #stream: ServerHttp2Stream
  readonly #push: ServerHttp2Stream['push']
  readonly #waiting = new GatheredParts()
  #parts = 0
  #isPlanned = false

  constructor(stream: ServerHttp2Stream, push: ServerHttp2Stream['push']) {
    this.#stream = stream
    this.#push = push
  }

  take(part: Buffer): boolean {
    if (!this.#isPlanned) {
      this.#isPlanned = true
      setImmediate(() => this.#endTurn())
    }
    if (++this.#parts <= partsByThemselves) return this.#push.call(this.#stream, part)
    this.#waiting.add(part)
    return this.#stream.readableLength < this.#stream.readableHighWaterMark
  }

  handOn(): void {
    if (this.#waiting.bytes === 0) return
    const whole = this.#waiting.whole()
    this.#waiting.clear()
    if (!this.#stream.destroyed) this.#push.call(this.#stream, whole)
  }

  #endTurn(): void {
    this.#isPlanned = false
    this.#parts = 0
    this.handOn()
  }
}
