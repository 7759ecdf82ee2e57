// Fairness between connections: of those that send many requests at once, each gets a few per turn of the event loop, so that nobody waits
// for thousands of pipelined requests of somebody else. And where very many connections bring one each, a turn ends all the same.
//
// A connection whose requests wait here is not read from, as Node itself does for bodies that nobody takes, so what waits is bounded.

import type { Socket } from 'node:net'
import { goOnReading, stopReading } from './read-control.js'

/** How many requests of one connection are begun in a turn without waiting. */
const freePerTurn = 8
/** How many of one connection are begun and not answered: answers that had to wait for the one before them are all sent in one turn. */
const mostUnanswered = 8
/**
 * For how long requests are begun in a turn: those that come, and then those that have waited. Less costs honest clients of HTTP/2 5 %
 * where the machine is busy: what is answered together is sent together.
 */
const turnMs = 5
/** At how many waiting requests a connection is no longer read from, and when it is again. */
const stopAt = 64
const goOnAt = 16
/** Of all connections together; one that brings more is closed, but first those whose requests wait for their own earlier answers. */
const mostWaiting = 10_000

type Begin = () => void

/** What is answered in the order of requests, as with HTTP/1.1. */
interface Answer {
  /** Null until those before it were sent. */
  readonly socket: Socket | null
  once(event: 'close', listener: () => void): unknown
}

interface Waiting {
  readonly begin: Begin
  readonly answer: Answer | undefined
}

interface Line {
  readonly socket: Socket
  turn: number
  begun: number
  waiting: Waiting[]
  /** How many were begun before it was their turn to be answered, and were not. */
  unanswered: number
  isStopped: boolean
}

export class FairTurns {
  readonly #lines = new WeakMap<object, Line>()
  /** Those with waiting requests, in the order in which they get their turn. */
  readonly #waiting = new Set<Line>()
  /** Those whose requests wait for the end of an answer to an earlier one. */
  readonly #blocked = new Set<Line>()
  #waitingCount = 0
  readonly #now: () => number
  #turn = 0
  #turnBegunMs = 0
  #isTurnCounted = false

  /** `now`: milliseconds that only grow. */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /**
   * Begins a request of a connection now or in its turn; never when the connection is gone by then. `connection`: what stands for it. `answer`: where
   * answers are sent in the order of requests.
   */
  run(connection: object, socket: Socket, begin: Begin, answer?: Answer): void {
    this.#countTurn()
    let line = this.#lines.get(connection)
    if (line === undefined) {
      line = { socket, turn: this.#turn, begun: 0, waiting: [], unanswered: 0, isStopped: false }
      this.#lines.set(connection, line)
    }
    if (line.turn !== this.#turn) {
      line.turn = this.#turn
      line.begun = 0
    }
    if (line.waiting.length === 0 && line.begun < freePerTurn && this.#hasTime && line.unanswered < mostUnanswered) {
      line.begun++
      this.#follow(line, answer)
      begin()
      return
    }
    this.#wait(line, { begin, answer })
  }

  /** Where no more can wait, those that are few need not. */
  get #hasTime(): boolean {
    return this.#now() - this.#turnBegunMs < turnMs || this.#waitingCount >= mostWaiting
  }

  #wait(line: Line, request: Waiting): void {
    if (this.#waitingCount >= mostWaiting) this.#dropBlocked()
    if (this.#waitingCount >= mostWaiting) {
      line.socket.destroy()
      return
    }
    line.waiting.push(request)
    this.#waitingCount++
    this.#waiting.add(line)
    if (line.waiting.length < stopAt) return
    // Again, too: Node reads on by itself when a body that nobody took has ended.
    line.isStopped = true
    stopReading(line.socket, 'requests')
  }

  #countTurn(): void {
    if (this.#isTurnCounted) return
    this.#isTurnCounted = true
    this.#turnBegunMs = this.#now()
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isTurnCounted = false
    this.#turn++
    if (this.#waiting.size === 0) return
    this.#countTurn()
    const until = this.#now() + turnMs
    do {
      const [line] = this.#waiting
      if (line === undefined) return
      this.#waiting.delete(line)
      if (line.socket.destroyed) this.#forget(line)
      else if (line.unanswered < mostUnanswered) this.#beginNext(line)
      else this.#blocked.add(line)
    } while (this.#now() < until)
  }

  /** One request of a connection; the others of it wait behind those of other connections. */
  #beginNext(line: Line): void {
    const next = line.waiting.shift()
    this.#waitingCount--
    if (line.waiting.length > 0) this.#waiting.add(line)
    if (line.isStopped && line.waiting.length <= goOnAt) {
      line.isStopped = false
      goOnReading(line.socket, 'requests')
    }
    this.#follow(line, next?.answer)
    next?.begin()
  }

  #forget(line: Line): void {
    this.#waitingCount -= line.waiting.length
    line.waiting = []
  }

  #dropBlocked(): void {
    const [line] = this.#blocked
    if (line === undefined) return
    this.#blocked.delete(line)
    this.#forget(line)
    line.socket.destroy()
  }

  /** Those that can be sent at once need not be followed. */
  #follow(line: Line, answer: Answer | undefined): void {
    if (answer === undefined || answer.socket !== null) return
    line.unanswered++
    answer.once('close', () => {
      line.unanswered--
      if (!this.#blocked.delete(line)) return
      this.#waiting.add(line)
      this.#countTurn()
    })
  }
}
