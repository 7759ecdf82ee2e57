// A connection that speaks HTTP/2 and carries many questions at a time. What the other side sends beside answers, such as pings and settings,
// is bounded: a server that floods is left.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { AnswerBody, type BodyLimits } from './answer-body.js'
import type { AnswerHead } from './http1-answer.js'

export interface SessionQuestion {
  readonly headers: OutgoingHttpHeaders
  readonly body: string
  readonly limits: BodyLimits
  readonly answered: (head: AnswerHead, body: Buffer) => void
  /** `isUntouched`: the other side has not begun with it, so that it may be asked elsewhere. */
  readonly failed: (why: unknown, isUntouched: boolean) => void
}

/** Nobody waits for a question any more; `isLate`: because nothing came. */
export type CancelQuestion = (isLate: boolean) => void

/** Until the other side says how many there may be. */
const usualStreams = 100
/** What may come beside bodies: for the session, and for each question. */
const mostBeside = { once: 64 << 10, each: 16 << 10 }
/** Encryption makes bodies a little longer. */
const envelope = 1.1

export class SharedSession {
  readonly #session: ClientHttp2Session
  readonly #socket: TLSSocket
  readonly #most: number
  readonly #changed: () => void
  readonly #streams = new Set<ClientHttp2Stream>()
  #isOpen = true
  #questions = 0
  #bodyBytes = 0
  /** When the last question ended, by `performance.now()`. */
  #idleSinceMs = performance.now()

  /** The one in whose place it is: questions may still be on their way there. */
  #before: SharedSession | undefined

  /** `changed`: told whenever there may be room, or none any more. */
  constructor(socket: TLSSocket, most: number, changed: () => void, before?: SharedSession) {
    this.#before = before
    this.#socket = socket
    this.#most = most
    this.#changed = changed
    this.#session = connect('https://localhost', { createConnection: () => socket, settings: { enablePush: false } })
    this.#session.on('error', () => this.leave())
    this.#session.on('goaway', () => this.leave())
    this.#session.on('close', () => this.leave())
    this.#session.on('remoteSettings', () => this.#changed())
  }

  /** Whether questions can still be asked here, now or later. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#session.closed && !this.#session.destroyed
  }

  /** Whether nothing is left of it, nor of those before. */
  get isGone(): boolean {
    return this.#session.destroyed && this.#before?.isGone !== false
  }

  get hasRoom(): boolean {
    const most = this.#session.remoteSettings?.maxConcurrentStreams ?? usualStreams
    return this.isOpen && this.#streams.size < Math.min(most, this.#most)
  }

  ask({ headers, body, limits, answered, failed }: SessionQuestion): CancelQuestion {
    const kept = new AnswerBody(limits)
    const before = this.#socket.bytesRead
    let head: AnswerHead | undefined
    let isOver = false
    let stream: ClientHttp2Stream
    try {
      if (this.#streams.size === 0) this.#session.ref()
      stream = this.#session.request(headers)
    } catch (thrown) {
      this.leave()
      failed(thrown, true)
      return () => undefined
    }
    this.#questions++
    this.#streams.add(stream)
    const fail = (why: unknown): void => {
      if (isOver) return
      isOver = true
      const isUntouched = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || this.#socket.bytesRead === before
      stream.close(constants.NGHTTP2_CANCEL)
      failed(why, isUntouched)
    }
    stream.on('response', (received) => {
      head = {
        status: Number(received[':status'] ?? 0),
        contentType: received['content-type'] ?? '',
        retryAfter: received['retry-after'] ?? '',
        keptSeconds: undefined,
      }
    })
    stream.on('data', (part: Buffer) => {
      this.#bodyBytes += part.length
      try {
        if (!isOver) kept.add(part)
      } catch (thrown) {
        fail(thrown)
      }
    })
    stream.on('end', () => {
      if (isOver || head === undefined) return
      isOver = true
      answered(head, kept.whole)
    })
    stream.on('error', fail)
    stream.on('close', () => {
      fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
      this.#forget(stream)
    })
    stream.end(body)
    return (isLate) => {
      if (isOver) return
      isOver = true
      // Whoever has said nothing at all in that time may be gone without a word.
      if (isLate && this.#socket.bytesRead === before) this.leave()
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  /** To be called now and then: leaves what sends too much beside answers, and what nobody has used for too long. */
  check(freeMs: number): void {
    this.#before?.check(freeMs)
    if (this.#before?.isGone) this.#before = undefined
    const beside = this.#socket.bytesRead - envelope * this.#bodyBytes
    if (beside > mostBeside.once + mostBeside.each * this.#questions) this.#cut()
    else if (this.#streams.size === 0 && performance.now() - this.#idleSinceMs > freeMs) this.#cut()
  }

  close(): void {
    this.#before?.close()
    this.#cut()
  }

  #cut(): void {
    this.#isOpen = false
    this.#session.destroy()
  }

  #forget(stream: ClientHttp2Stream): void {
    this.#streams.delete(stream)
    if (this.#streams.size === 0) {
      this.#idleSinceMs = performance.now()
      // Nobody waits for it.
      if (this.isOpen) this.#session.unref()
      else this.#session.destroy()
    }
    this.#changed()
  }

  /** No more questions; those on their way come to their end. */
  leave(): void {
    this.#isOpen = false
    if (this.#streams.size === 0) this.#session.destroy()
    this.#changed()
  }
}
