// Connections to one server that are kept for the next question. There are at most so many, and each carries one question at a time; where the
// server speaks HTTP/2, all questions share one.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { AnswerTimeoutError } from './ask.js'
import type { AnswerHead } from './http1-answer.js'
import { closedError, PendingQuestion, type Question, type ReadAnswer, StaleConnectionError, type Wording } from './question.js'
import { SharedSession } from './shared-session.js'

export interface ConnectionLimits {
  /** Questions on their way at a time; others wait for their turn. */
  readonly most: number
  /** Connections that are kept without a question. */
  readonly mostFree: number
  /** For how long. */
  readonly freeMs: number
}

export interface Opened {
  readonly socket: Socket
  /** The event that tells that questions may be sent; left out: they may be at once. */
  readonly readyOn?: 'connect' | 'secureConnect'
}

type Asked = PendingQuestion<Connection>

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
/** Opened in one turn of the event loop: with TLS each takes a millisecond or two before anything is sent. */
const mostOpenedAtOnce = 4
const endings = ['end', 'error', 'close'] as const

export class KeptConnections {
  readonly #limits: ConnectionLimits
  readonly #open: () => Opened | Promise<Opened>
  readonly #wording: Wording
  #shared: SharedSession | undefined
  readonly #all = new Set<Connection>()
  /** What was used last comes last, and is used next. */
  readonly #free: Connection[] = []
  readonly #waiting = new Set<Asked>()
  #sweeping: NodeJS.Timeout | undefined
  #isClosed = false
  /** How many connections are on their way, where they have to be waited for. */
  #opening = 0
  /** Connections whose response is complete, and which are not free before the event loop has read from them once more. */
  #resting = 0
  /** In this turn of the event loop. */
  #openedNow = 0
  #goesOn: NodeJS.Immediate | undefined

  constructor(limits: ConnectionLimits, wording: Wording, open: () => Opened | Promise<Opened>) {
    this.#limits = limits
    this.#wording = wording
    this.#open = open
  }

  /** Rejects with what went wrong, or with the reason of those who wait no more. */
  ask(question: Question): Promise<ReadAnswer> {
    if (this.#isClosed) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      const asked: Asked = new PendingQuestion(question, { resolve, reject })
      asked.start((why) => this.#fail(asked, why))
      if (asked.isOver) return
      if (this.#shouldAwaitRest(asked)) this.#waiting.add(asked)
      else this.#begin(asked)
    })
  }

  /** Whoever waits for an answer hears of it at once, and nobody is asked any more. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
    clearImmediate(this.#goesOn)
    this.#goesOn = undefined
    for (const asked of this.#waiting) this.#fail(asked, closedError())
    for (const connection of this.#all) this.#drop(connection, closedError())
    this.#shared?.close()
    this.#shared = undefined
  }

  #begin(asked: Asked): void {
    if (this.#isClosed) {
      this.#fail(asked, closedError())
      return
    }
    if (this.#shared?.isOpen && !asked.question.isFresh) {
      if (this.#shared.hasRoom) this.#share(this.#shared, asked)
      else this.#waiting.add(asked)
      return
    }
    const kept = asked.question.isFresh ? undefined : this.#takeFree()
    if (kept !== undefined) this.#send(kept, asked)
    else if (this.#openedNow < mostOpenedAtOnce && (this.#mayConnect || this.#dropFree())) this.#connect(asked)
    else this.#waiting.add(asked)
  }

  /** Those who wait have their turn in the next one: until then some of them may have given up, or one connection may turn out to be for all. */
  #goOnLater(): void {
    this.#goesOn ??= setImmediate(() => {
      this.#goesOn = undefined
      this.#openedNow = 0
      this.#shareWaiting()
    })
  }

  /** True when a resting connection will be free for it: cheaper than a new one. */
  #shouldAwaitRest({ question: { isFresh = false } }: Asked): boolean {
    return !isFresh && this.#free.length === 0 && this.#resting > this.#waiting.size && !this.#shared?.isOpen
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
    this.#openedNow++
    this.#goOnLater()
    try {
      const opened = this.#open()
      if (opened instanceof Promise) this.#await(asked, opened)
      else this.#attach(asked, opened)
    } catch (thrown) {
      this.#fail(asked, thrown)
    }
  }

  #await(asked: Asked, opening: Promise<Opened>): void {
    this.#opening++
    opening
      .then(
        (opened) => {
          this.#opening--
          if (!asked.isOver && !this.#isClosed) this.#attach(asked, opened)
          else opened.socket.on('error', nothing).destroy()
        },
        (why: unknown) => {
          this.#opening--
          this.#fail(asked, why)
        },
      )
      .finally(() => this.#shareWaiting())
  }

  #attach(asked: Asked, { socket, readyOn }: Opened): void {
    const ended = (error?: unknown): void => this.#end(connection, error instanceof Error ? error : undefined)
    const connection: Connection = { socket, asked, ended, wasUsed: false, freeUntilMs: 0 }
    asked.carrier = connection
    this.#all.add(connection)
    socket.setNoDelay(true)
    const begin = (): void => {
      if (connection.asked === undefined) return
      if ((socket as TLSSocket).alpnProtocol === 'h2') {
        this.#join(socket as TLSSocket, connection, connection.asked)
        return
      }
      socket.on('data', (bytes: Buffer) => this.#read(connection, bytes))
      this.#send(connection, connection.asked)
    }
    for (const event of endings) socket.on(event, connection.ended)
    if (readyOn === undefined) begin()
    else socket.on(readyOn, begin)
  }

  #send(connection: Connection, asked: Asked): void {
    connection.asked = asked
    asked.carrier = connection
    if (connection.wasUsed) connection.socket.ref()
    connection.socket.write(this.#wording.http1(asked.question.request))
  }

  /** The other side speaks HTTP/2: the first connection is for all, and others that were begun at the same time are not needed. */
  #join(socket: TLSSocket, connection: Connection, asked: Asked): void {
    connection.asked = undefined
    asked.carrier = undefined
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
      answered: (head, body) => asked.answer({ head, body }),
      failed: (why, isUntouched) => {
        asked.cancel = undefined
        this.#fail(asked, isUntouched && !this.#isClosed ? new StaleConnectionError(undefined, { cause: why }) : why)
      },
    })
  }

  #shareWaiting(): void {
    for (const asked of this.#waiting) {
      // Whoever could not begin would come back to the end of those who wait, and so without end.
      if (!this.#hasRoomFor(asked)) return
      this.#waiting.delete(asked)
      this.#begin(asked)
    }
  }

  #hasRoomFor({ question: { isFresh = false } }: Asked): boolean {
    if (!isFresh && this.#shared?.isOpen) return this.#shared.hasRoom
    if (!isFresh && this.#free.length > 0) return true
    return this.#openedNow < mostOpenedAtOnce && (this.#mayConnect || this.#free.length > 0)
  }

  get #mayConnect(): boolean {
    return this.#all.size + this.#opening < this.#limits.most
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
    asked.carrier = undefined
    if (head === undefined) asked.refuse(new Error('an answer without a head'))
    else asked.answer({ head, body })
    // An answer that comes before the question was sent is followed by the rest of the question.
    if (reader.isReusable && head !== undefined && connection.socket.writableLength === 0) this.#rest(connection, head)
    else this.#drop(connection, undefined)
  }

  /**
   * A second response that the server sent along with the first must not become the response to the next request: it may be in another TLS record or
   * still in the socket's buffer. So everything that has arrived is read before the connection is used again; surplus bytes end it.
   */
  #rest(connection: Connection, head: AnswerHead): void {
    this.#resting++
    const release = (): void => {
      this.#resting--
      if (this.#all.has(connection)) this.#release(connection, head)
      else if (!this.#isClosed && this.#waiting.size > 0) this.#goOnLater()
    }
    // Sockets are polled between two immediates.
    setImmediate(() => setImmediate(release))
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
      asked.carrier = undefined
      const isStale = wasUsed && !asked.reader.hasBegun && isReset(why) && !this.#isClosed
      this.#fail(asked, isStale ? new StaleConnectionError(undefined, { cause: why }) : why)
    }
    if (wasThere && !this.#isClosed && this.#waiting.size > 0) this.#goOnLater()
  }

  #fail(asked: Asked, why: unknown): void {
    if (asked.isOver) return
    const { carrier: connection, cancel } = asked
    this.#waiting.delete(asked)
    asked.refuse(why)
    cancel?.(why instanceof AnswerTimeoutError)
    if (connection === undefined) return
    connection.asked = undefined
    this.#drop(connection, undefined)
  }
}

const nothing = (): void => undefined

const isReset = (why: unknown): boolean => {
  const { code } = why as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}
