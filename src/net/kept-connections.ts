// Connections to one server that are kept for the next question. There are at most so many, and each carries one question at a time; where the
// server speaks HTTP/2, all questions share one.

import type { OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { AnswerTimeoutError } from './ask.js'
import { type AnswerHead, AnswerReader } from './http1-answer.js'
import { type CancelQuestion, SharedSession } from './shared-session.js'

export interface ConnectionLimits {
  /** Questions on their way at a time; others wait for their turn. */
  readonly most: number
  /** Connections that are kept without a question. */
  readonly mostFree: number
  /** For how long. */
  readonly freeMs: number
}

/** Room for answers that are being read. */
export interface AnswerRoom {
  /** False where there is none. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface Opened {
  readonly socket: Socket
  /** The event that tells that questions may be sent. */
  readonly readyOn: 'connect' | 'secureConnect'
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

interface Asked {
  readonly question: Question
  readonly resolve: (answer: ReadAnswer) => void
  readonly reject: (reason: unknown) => void
  readonly hold: (bytes: number) => boolean
  readonly reader: AnswerReader
  connection: Connection | undefined
  /** Where the question is on its way in a shared session. */
  cancel: CancelQuestion | undefined
  taken: number
  timer: NodeJS.Timeout | undefined
  forget: (() => void) | undefined
  isOver: boolean
}

interface Connection {
  readonly socket: Socket
  /** Told of its end; others listen to that, too. */
  readonly ended: (error?: unknown) => void
  asked: Asked | undefined
  wasUsed: boolean
  /** Until when it is kept without a question, by `performance.now()`. */
  freeUntilMs: number
}

/** The other side closes at the moment of which it spoke: it is not asked anything shortly before. */
const marginMs = 1000
const sweepMs = 1000
const endings = ['end', 'error', 'close'] as const

export class KeptConnections {
  readonly #limits: ConnectionLimits
  readonly #open: () => Opened
  readonly #wording: Wording
  #shared: SharedSession | undefined
  readonly #all = new Set<Connection>()
  /** What was used last comes last, and is used next. */
  readonly #free: Connection[] = []
  readonly #waiting = new Set<Asked>()
  #sweeping: NodeJS.Timeout | undefined

  constructor(limits: ConnectionLimits, wording: Wording, open: () => Opened) {
    this.#limits = limits
    this.#wording = wording
    this.#open = open
  }

  /** Rejects with what went wrong, or with the reason of those who wait no more. */
  ask(question: Question): Promise<ReadAnswer> {
    return new Promise((resolve, reject) => {
      const { mostBytes, room, onAbort, timeoutMs, allowedMs } = question
      const hold = (bytes: number): boolean => {
        if (room?.take(bytes) === false) return false
        asked.taken += bytes
        return true
      }
      const asked: Asked = {
        question,
        resolve,
        reject,
        hold,
        reader: new AnswerReader({ mostBytes, hold }),
        connection: undefined,
        cancel: undefined,
        taken: 0,
        timer: undefined,
        forget: undefined,
        isOver: false,
      }
      // Whoever has gone before tells so at once.
      asked.forget = onAbort?.((reason) => this.#fail(asked, reason))
      if (asked.isOver) {
        asked.forget?.()
        return
      }
      asked.timer = setTimeout(() => this.#fail(asked, new AnswerTimeoutError(allowedMs)), timeoutMs)
      this.#begin(asked)
    })
  }

  close(): void {
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
    const closed = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    for (const asked of this.#waiting) this.#fail(asked, closed())
    for (const connection of this.#all) this.#drop(connection, closed())
    this.#shared?.close()
    this.#shared = undefined
  }

  #begin(asked: Asked): void {
    if (this.#shared?.isOpen && !asked.question.isFresh) {
      if (this.#shared.hasRoom) this.#share(this.#shared, asked)
      else this.#waiting.add(asked)
      return
    }
    const kept = asked.question.isFresh ? undefined : this.#takeFree()
    if (kept !== undefined) this.#send(kept, asked)
    else if (this.#all.size < this.#limits.most || this.#dropFree()) this.#connect(asked)
    else this.#waiting.add(asked)
  }

  #takeFree(): Connection | undefined {
    for (let last = this.#free.pop(); last !== undefined; last = this.#free.pop()) {
      if (!last.socket.destroyed && last.freeUntilMs > performance.now()) return last
      this.#drop(last, undefined)
    }
    return undefined
  }

  /** Makes room for one that must be new. */
  #dropFree(): boolean {
    const oldest = this.#free[0]
    if (oldest === undefined) return false
    this.#drop(oldest, undefined)
    return true
  }

  #connect(asked: Asked): void {
    let opened: Opened
    try {
      opened = this.#open()
    } catch (thrown) {
      this.#fail(asked, thrown)
      return
    }
    const { socket, readyOn } = opened
    const ended = (error?: unknown): void => this.#end(connection, error instanceof Error ? error : undefined)
    const connection: Connection = { socket, asked, ended, wasUsed: false, freeUntilMs: 0 }
    asked.connection = connection
    this.#all.add(connection)
    socket.setNoDelay(true)
    socket.on(readyOn, () => {
      if (connection.asked === undefined) return
      if ((socket as TLSSocket).alpnProtocol === 'h2') {
        this.#join(socket as TLSSocket, connection, connection.asked)
        return
      }
      socket.on('data', (bytes: Buffer) => this.#read(connection, bytes))
      this.#send(connection, connection.asked)
    })
    for (const event of endings) socket.on(event, connection.ended)
  }

  #send(connection: Connection, asked: Asked): void {
    connection.asked = asked
    asked.connection = connection
    if (connection.wasUsed) connection.socket.ref()
    connection.socket.write(this.#wording.http1(asked.question.request))
  }

  /** The other side speaks HTTP/2: the first connection is for all, and others that were begun at the same time are not needed. */
  #join(socket: TLSSocket, connection: Connection, asked: Asked): void {
    connection.asked = undefined
    asked.connection = undefined
    this.#all.delete(connection)
    for (const event of endings) socket.off(event, connection.ended)
    if (this.#shared?.isOpen && !asked.question.isFresh) {
      socket.on('error', () => undefined)
      socket.destroy()
      this.#begin(asked)
      return
    }
    const shared = new SharedSession(socket, this.#limits.most, () => this.#shareWaiting(), this.#shared)
    this.#shared?.leave()
    this.#shared = shared
    this.#sweepLater()
    this.#share(shared, asked)
    this.#shareWaiting()
  }

  #share(shared: SharedSession, asked: Asked): void {
    const { request, mostBytes } = asked.question
    asked.cancel = shared.ask({
      headers: this.#wording.http2(request),
      body: request.body,
      limits: { mostBytes, hold: asked.hold },
      answered: (head, body) => {
        this.#leave(asked)
        asked.resolve({ head, body })
      },
      failed: (why, isUntouched) => {
        asked.cancel = undefined
        this.#fail(asked, isUntouched ? new StaleConnectionError(undefined, { cause: why }) : why)
      },
    })
  }

  #shareWaiting(): void {
    for (const asked of this.#waiting) {
      // Whoever could not begin would come back to the end of those who wait, and so without end.
      if (!this.#hasRoom()) return
      this.#waiting.delete(asked)
      this.#begin(asked)
    }
  }

  #hasRoom(): boolean {
    const mayConnect = this.#all.size < this.#limits.most || this.#free.length > 0
    return this.#shared?.isOpen ? this.#shared.hasRoom : mayConnect
  }

  #read(connection: Connection, bytes: Buffer): void {
    const { asked } = connection
    if (asked === undefined) {
      // Whoever speaks without being asked is not to be believed in what comes next.
      this.#drop(connection, undefined)
      return
    }
    try {
      asked.reader.push(bytes)
    } catch (thrown) {
      this.#fail(asked, thrown)
      return
    }
    if (asked.reader.isDone) this.#finish(connection, asked)
  }

  #finish(connection: Connection, asked: Asked): void {
    const { reader } = asked
    const { head, body } = reader
    connection.asked = undefined
    asked.connection = undefined
    this.#leave(asked)
    if (head === undefined) asked.reject(new Error('an answer without a head'))
    else asked.resolve({ head, body })
    // An answer that comes before the question was sent is followed by the rest of the question.
    if (reader.isReusable && head !== undefined && connection.socket.writableLength === 0) this.#release(connection, head)
    else this.#drop(connection, undefined)
  }

  #release(connection: Connection, { keptSeconds }: AnswerHead): void {
    connection.wasUsed = true
    const { freeMs, mostFree } = this.#limits
    const keptMs = keptSeconds === undefined ? freeMs : Math.min(freeMs, keptSeconds * 1000 - marginMs)
    const [next] = this.#waiting
    // Who must have a new one gets it instead of this one.
    if (keptMs <= 0 || next?.question.isFresh || (next === undefined && this.#free.length >= mostFree)) {
      this.#drop(connection, undefined)
      return
    }
    if (next !== undefined) {
      this.#waiting.delete(next)
      this.#send(connection, next)
      return
    }
    connection.freeUntilMs = performance.now() + keptMs
    this.#free.push(connection)
    // Nobody waits for it.
    connection.socket.unref()
    this.#sweepLater()
  }

  #sweepLater(): void {
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref()
  }

  #sweep(): void {
    this.#shared?.check(this.#limits.freeMs)
    const now = performance.now()
    for (const connection of this.#free.filter(({ freeUntilMs }) => freeUntilMs <= now)) this.#drop(connection, undefined)
    if (this.#free.length > 0 || this.#shared?.isGone === false) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }

  /** The other side has closed, or something went wrong. */
  #end(connection: Connection, error: Error | undefined): void {
    const { asked } = connection
    if (asked === undefined) {
      this.#drop(connection, undefined)
      return
    }
    const { reader } = asked
    if (error === undefined) {
      try {
        reader.close()
        this.#finish(connection, asked)
        return
      } catch (thrown) {
        this.#drop(connection, thrown)
        return
      }
    }
    this.#drop(connection, error)
  }

  #drop(connection: Connection, why: unknown): void {
    const { asked, socket, wasUsed } = connection
    connection.asked = undefined
    const place = this.#free.indexOf(connection)
    if (place >= 0) this.#free.splice(place, 1)
    const wasThere = this.#all.delete(connection)
    socket.destroy()
    if (asked !== undefined) {
      asked.connection = undefined
      const isStale = wasUsed && !asked.reader.hasBegun && isReset(why)
      this.#fail(asked, isStale ? new StaleConnectionError(undefined, { cause: why }) : why)
    }
    const [next] = this.#waiting
    if (!wasThere || next === undefined || this.#all.size >= this.#limits.most) return
    this.#waiting.delete(next)
    this.#connect(next)
  }

  #fail(asked: Asked, why: unknown): void {
    if (asked.isOver) return
    const { connection, cancel } = asked
    this.#waiting.delete(asked)
    this.#leave(asked)
    cancel?.(why instanceof AnswerTimeoutError)
    asked.reject(why)
    if (connection === undefined) return
    connection.asked = undefined
    this.#drop(connection, undefined)
  }

  #leave(asked: Asked): void {
    asked.isOver = true
    clearTimeout(asked.timer)
    asked.forget?.()
    asked.question.room?.give(asked.taken)
    asked.taken = 0
  }
}

const isReset = (why: unknown): boolean => {
  const { code } = why as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}
