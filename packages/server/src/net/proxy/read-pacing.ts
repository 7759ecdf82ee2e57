// Limits the small chunks that are read from a stream per turn of the event loop: Node.js reads up to 2 MiB, perhaps 100,000 chunks.

import type { Readable } from 'node:stream'

/** Larger chunks are not counted. */
const smallChunkBytes = 512
/** Small chunks per turn. */
const chunksPerTurn = 128

export class ReadPacing {
  readonly #stream: Readable
  readonly #isBlocked: () => boolean
  #chunks = 0
  #isPaused = false

  /** `isBlocked`: true while the stream must stay paused for another reason, such as back-pressure. */
  constructor(stream: Readable, isBlocked: () => boolean = () => false) {
    this.#stream = stream
    this.#isBlocked = isBlocked
  }

  count(bytes: number): void {
    if (bytes < smallChunkBytes && ++this.#chunks >= chunksPerTurn) this.pause()
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#stream.pause()
    setImmediate(() => {
      this.#isPaused = false
      this.#chunks = 0
      if (!this.#isBlocked()) this.#stream.resume()
    })
  }
}
