// What requests hold in memory, all together: bodies that are being read, answers that are being taken. When it is too much, new requests are
// sent away with a word when to come again.

import { ApiError } from '../api/api-error.js'

export interface PressureLimits {
  /** Of the bodies of requests, until they are answered. */
  readonly bodyBytes: number
  /** Of answers that their clients have not taken yet. */
  readonly answerBytes: number
  /** How long a client may take for an answer. */
  readonly answerMs: number
}

/** There is no room for the request now. The reference says so in plain text, and not with a Status. */
export class OverloadedError extends ApiError {
  constructor() {
    super({
      code: 429,
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    })
  }
}

/** Whose answer it is; it can be cut off. */
export interface Answering {
  cut(): void
}

interface HeldAnswer {
  readonly of: Answering
  readonly bytes: number
  /** How often it was seen waiting: not by a clock, for a process that stood still must not blame its clients. */
  looks: number
}

const lookMs = 1000

export class Pressure {
  readonly #limits: PressureLimits
  readonly #answers = new Set<HeldAnswer>()
  #timer: NodeJS.Timeout | undefined
  #bodyBytes = 0
  #answerBytes = 0

  constructor(limits: PressureLimits) {
    this.#limits = limits
  }

  get bodyBytes(): number {
    return this.#bodyBytes
  }

  get answerBytes(): number {
    return this.#answerBytes
  }

  /** Whether nothing more may be begun. */
  get isFull(): boolean {
    return this.#answerBytes > this.#limits.answerBytes || this.#bodyBytes > this.#limits.bodyBytes
  }

  /** Throws when there is no room for so much of a body. */
  addBody(bytes: number): void {
    if (this.#bodyBytes + bytes > this.#limits.bodyBytes) throw new OverloadedError()
    this.#bodyBytes += bytes
  }

  releaseBody(bytes: number): void {
    this.#bodyBytes -= bytes
  }

  /** Counts an answer until the function that it returns is called. A client that takes too long is cut off. */
  holdAnswer(of: Answering, bytes: number): () => void {
    const held: HeldAnswer = { of, bytes, looks: 0 }
    this.#answers.add(held)
    this.#answerBytes += bytes
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    return () => {
      if (this.#answers.delete(held)) this.#answerBytes -= bytes
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.#answers.size === 0) this.close()
    const mostLooks = Math.max(2, Math.ceil(this.#limits.answerMs / lookMs))
    for (const held of this.#answers) {
      held.looks += 1
      if (held.looks > mostLooks) held.of.cut()
    }
  }
}
