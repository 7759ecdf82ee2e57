// Between many small parts of a connection others have their turn. What has arrived is read up to 32 times in one turn of the event loop, which is
// two megabytes: of chunks of one byte that would be hundreds of thousands of parts.

import type { Socket } from 'node:net'
import { endPause, pauseReading } from './read-control.js'

/** Those that are longer cost less than their bytes do. */
const smallBytes = 512
/** So many come without a pause, and the rest of what was read with them. */
const partsPerTurn = 128

export class ReadPauses {
  readonly #socket: Socket | undefined
  #parts = 0
  #isPaused = false

  constructor(socket: Socket | null | undefined) {
    this.#socket = socket ?? undefined
  }

  /** A part has come. */
  count(bytes: number): void {
    if (bytes < smallBytes && ++this.#parts >= partsPerTurn) this.pause()
  }

  /** Nothing more is read in this turn. */
  pause(): void {
    if (this.#isPaused || this.#socket === undefined) return
    this.#isPaused = true
    const socket = this.#socket
    // Nobody is told: whoever reads goes on where this ends. Who wants a pause for another reason takes it again with the next part.
    pauseReading(socket)
    setImmediate(() => {
      this.#isPaused = false
      this.#parts = 0
      endPause(socket)
    })
  }
}
