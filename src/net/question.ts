// A question to a server, from the moment it is asked until it is answered or given up: its time, the room for its answer, and who waits for it.

import type { OutgoingHttpHeaders } from 'node:http2'
import { timerMs } from '../base/clock.js'
import { AnswerTimeoutError } from './ask.js'
import { type AnswerHead, AnswerReader } from './http1-answer.js'
import type { CancelQuestion } from './shared-session.js'

/** Room for answers that are being read. */
export interface AnswerRoom {
  /** False where there is none. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** What is asked, in both languages. */
export interface QuestionText {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

export interface Wording {
  /** Head and body. */
  readonly http1: (request: QuestionText) => string
  readonly http2: (request: QuestionText) => OutgoingHttpHeaders
}

export interface Question {
  readonly request: QuestionText
  /** Of everything, from the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** What is told of a time that is over, where it began before this question. */
  readonly allowedMs: number
  readonly mostBytes: number
  readonly room?: AnswerRoom | undefined
  /** Tells why nobody waits any more, and gives what forgets the listener. */
  readonly onAbort?: ((listener: (reason: unknown) => void) => () => void) | undefined
  /** On no connection that was used before. */
  readonly isFresh?: boolean
}

export interface ReadAnswer {
  readonly head: AnswerHead
  readonly body: Buffer
}

/** A kept connection turned out to be closed before anything came back. */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError'
}

/** As a connection that was closed by the other side is told of. */
export const closedError = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

interface Waiting {
  readonly resolve: (answer: ReadAnswer) => void
  readonly reject: (reason: unknown) => void
}

/** `Carrier`: the connection that it has to itself. */
export class PendingQuestion<Carrier> {
  readonly question: Question
  readonly reader: AnswerReader
  carrier: Carrier | undefined
  /** Where it is on its way in a shared session. */
  cancel: CancelQuestion | undefined
  readonly #waiting: Waiting
  #taken = 0
  #timer: NodeJS.Timeout | undefined
  #forget: (() => void) | undefined
  #isOver = false

  constructor(question: Question, waiting: Waiting) {
    this.question = question
    this.#waiting = waiting
    this.reader = new AnswerReader({ mostBytes: question.mostBytes, hold: this.hold })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** False where there is no room for so much of an answer. */
  readonly hold = (bytes: number): boolean => {
    if (this.question.room?.take(bytes) === false) return false
    this.#taken += bytes
    return true
  }

  /** Its time begins. Whoever waits no more tells so, and may have done so before. */
  start(fail: (why: unknown) => void): void {
    const { onAbort, timeoutMs, allowedMs } = this.question
    this.#forget = onAbort?.(fail)
    if (this.#isOver) this.#forget?.()
    else this.#timer = setTimeout(() => fail(new AnswerTimeoutError(allowedMs)), timerMs(timeoutMs))
  }

  answer(answer: ReadAnswer): void {
    this.#leave()
    this.#waiting.resolve(answer)
  }

  refuse(why: unknown): void {
    this.#leave()
    this.#waiting.reject(why)
  }

  #leave(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#forget?.()
    this.question.room?.give(this.#taken)
    this.#taken = 0
  }
}
