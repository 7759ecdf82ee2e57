// Turns for large bodies: those of many connections may end in one turn of the event loop, and each is worked on as soon as it is handed over.
// And for the answers to them: what is stored together is answered together, and to encrypt half a megabyte takes a millisecond or two.

import { SharedPieces } from '../base/pieces.js'

/** Handed over in one turn, and one body more where the first is larger: streams end before the work on any of them has begun. */
const mostBytes = 256 << 10

/** What is smaller does not wait: to wait costs a turn of the event loop, and that would show in the cost of the work. */
const smallBytes = 16 << 10

class BodyTurns {
  readonly #clock = new SharedPieces()
  /** Handed over in this turn. */
  #bytes = 0
  /** The last that was handed over. */
  #body = 0

  /** Whether so many bytes can be worked on now; if so, they count. */
  take({ length: bytes }: { readonly length: number }): boolean {
    if (bytes <= smallBytes) return true
    if (this.#clock.isOver || (this.#bytes > 0 && this.#bytes + bytes > mostBytes)) return false
    this.#count(this.#bytes + bytes)
    return true
  }

  /** One of those that wait has each turn. */
  async takeLater({ length: bytes }: { readonly length: number }): Promise<void> {
    await this.#clock.next()
    this.#count(bytes)
  }

  #count(bytes: number): void {
    this.#bytes = bytes
    const body = ++this.#body
    setImmediate(() => {
      if (body === this.#body) this.#bytes = 0
    })
  }
}

/** Of all requests of the process. */
export const bodyTurns = new BodyTurns()
