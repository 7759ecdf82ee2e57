// The body of an answer as its parts come: no longer than it may be, and within the room that there is for answers.

export interface BodyLimits {
  readonly mostBytes: number
  /** Of the bytes as they come; false: there is no room for them. */
  readonly hold: (bytes: number) => boolean
}

const leastGrown = 4096
const nothing = Buffer.alloc(0)

export class AnswerBody {
  readonly #limits: BodyLimits
  #all: Buffer = nothing
  #bytes = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  get whole(): Buffer {
    return this.#all.length === this.#bytes ? this.#all : this.#all.subarray(0, this.#bytes)
  }

  /** Throws where it is already known to be too long. */
  expect(bytes: number): void {
    const { mostBytes } = this.#limits
    if (bytes > mostBytes) throw new Error(`the answer is longer than ${mostBytes} bytes`)
  }

  /** What comes at once is not copied; what comes in many parts grows in one place, so that a part costs no more than its bytes. */
  add(part: Buffer): void {
    const before = this.#bytes
    const bytes = before + part.length
    this.expect(bytes)
    if (!this.#limits.hold(part.length)) throw new Error('there is no room for the answer')
    this.#bytes = bytes
    if (before === 0) {
      this.#all = part
      return
    }
    if (bytes > this.#all.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(leastGrown, 2 * bytes))
      this.#all.copy(grown, 0, 0, before)
      this.#all = grown
    }
    part.copy(this.#all, before)
  }
}
