// Fairness between connections: of those that send many requests at once, each gets a few per turn of the event loop, so that nobody waits
// for thousands of pipelined requests of somebody else. And where very many connections bring one each, a turn ends all the same.
//
// Of requests that wait, those of different users take turns, however many connections each of them has: who has hundreds would else be served hundreds
// of times before somebody with one. Whose a request is turns out only when it has begun, so a connection is taken for that of the user whom it last
// belonged to; those of whom nothing is known yet count as one. What is urgent has every second turn, however many users wait.
//
// A connection whose requests wait here is not read from, as Node itself does for bodies that nobody takes, so what waits is bounded.

import type { Socket } from 'node:net'
import { getOrInsert } from '../base/get-or-insert.js'
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
/** Of all connections together; for more, one is closed: first those whose requests wait for their own earlier answers, then, of some, the one with most of them. */
const mostWaiting = 10_000
const mostLookedAt = 64

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
  readonly isUrgent: boolean
}

/** A connection. While requests of it wait it stands among the others that wait, or among those that are blocked. */
interface Line {
  readonly connection: object
  readonly socket: Socket
  turn: number
  begun: number
  waiting: Waiting[]
  /** How many were begun before it was their turn to be answered, and were not. */
  unanswered: number
  isStopped: boolean
}

/** A request that has come. */
export interface Coming {
  /** What stands for its connection. */
  readonly connection: object
  readonly socket: Socket
  readonly begin: Begin
  /** Where answers are sent in the order of requests. */
  readonly answer?: Answer
  readonly isUrgent?: boolean
}

const owners = new WeakMap<object, string>()

/** Whose request was last begun on a connection, once that is known. */
export function setOwner(connection: object, user: string): void {
  if (owners.get(connection) !== user) owners.set(connection, user)
}

const ownerOf = (connection: object): string => owners.get(connection) ?? ''

/** Connections by whose they are, and users; both in the order in which they get their turn. */
class Queue {
  readonly #byOwner = new Map<string, Set<Line>>()

  get isEmpty(): boolean {
    return this.#byOwner.size === 0
  }

  has(owner: string): boolean {
    return this.#byOwner.has(owner)
  }

  /** Behind the others of its owner. */
  add(line: Line): void {
    getOrInsert(this.#byOwner, ownerOf(line.connection), () => new Set()).add(line)
  }

  /** The next one of the next user, who has his turn again when all others have had theirs. */
  takeNext(): Line | undefined {
    for (const [owner, lines] of this.#byOwner) {
      this.#byOwner.delete(owner)
      for (const line of lines) {
        lines.delete(line)
        if (lines.size > 0) this.#byOwner.set(owner, lines)
        return line
      }
    }
    return undefined
  }

  /** Those that were closed leave on the way: of many that make room in one turn none is looked at twice. */
  *lines(): Generator<Line, void, undefined> {
    for (const lines of this.#byOwner.values()) {
      for (const line of lines) {
        if (line.socket.destroyed) lines.delete(line)
        else yield line
      }
    }
  }
}

export class FairTurns {
  readonly #lines = new WeakMap<object, Line>()
  /** Those with waiting requests, by whether the first of these is urgent. */
  readonly #urgent = new Queue()
  readonly #others = new Queue()
  #isUrgentNext = false
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

  /** Begins a request now or in its turn; never when its connection is gone by then. */
  run({ connection, socket, begin, answer, isUrgent = false }: Coming): void {
    if (socket.destroyed) return
    this.#countTurn()
    let line = this.#lines.get(connection)
    if (line === undefined) {
      line = { connection, socket, turn: this.#turn, begun: 0, waiting: [], unanswered: 0, isStopped: false }
      this.#lines.set(connection, line)
    }
    if (line.turn !== this.#turn) {
      line.turn = this.#turn
      line.begun = 0
    }
    const isFree = line.waiting.length === 0 && line.begun < freePerTurn && line.unanswered < mostUnanswered
    if (isFree && this.#canBegin(connection, isUrgent)) {
      line.begun++
      this.#follow(line, answer)
      begin()
    } else this.#wait(line, { begin, answer, isUrgent })
  }

  /** Nobody comes before his own; and where no more can wait, those that are few need not. */
  #canBegin(connection: object, isUrgent: boolean): boolean {
    if (this.#now() - this.#turnBegunMs >= turnMs) return this.#isFull && !this.#makeRoom(1)
    return this.#waitingCount === 0 || this.#isFull || !(isUrgent ? this.#urgent : this.#others).has(ownerOf(connection))
  }

  get #isFull(): boolean {
    return this.#waitingCount >= mostWaiting
  }

  #wait(line: Line, request: Waiting): void {
    if (this.#isFull && !this.#makeRoom(line.waiting.length)) this.#drop(line)
    if (line.socket.destroyed) return
    this.#waitingCount++
    if (line.waiting.push(request) === 1) this.#queue(line)
    if (line.waiting.length < stopAt) return
    // Again, too: Node reads on by itself when a body that nobody took has ended.
    line.isStopped = true
    stopReading(line.socket, 'requests')
  }

  #queue(line: Line): void {
    const queue = line.waiting[0]?.isUrgent === true ? this.#urgent : this.#others
    queue.add(line)
  }

  #takeNext(): Line | undefined {
    this.#isUrgentNext = !this.#isUrgentNext
    const [first, second] = this.#isUrgentNext ? [this.#urgent, this.#others] : [this.#others, this.#urgent]
    return first.takeNext() ?? second.takeNext()
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
    if (this.#urgent.isEmpty && this.#others.isEmpty) return
    this.#countTurn()
    const until = this.#now() + turnMs
    do {
      const line = this.#takeNext()
      if (line === undefined) return
      if (line.socket.destroyed) this.#forget(line)
      else if (line.unanswered < mostUnanswered) this.#beginNext(line)
      else this.#blocked.add(line)
    } while (this.#now() < until)
  }

  /** One request of a connection; the others of it wait behind those of other connections. */
  #beginNext(line: Line): void {
    const next = line.waiting.shift()
    this.#waitingCount--
    if (line.waiting.length > 0) this.#queue(line)
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

  /** Closes a connection of which many wait, if these are more than `few`; whether there was one. */
  #makeRoom(few: number): boolean {
    const [blocked] = this.#blocked
    const line = blocked ?? this.#longest()
    if (line === undefined || (blocked === undefined && line.waiting.length <= few)) return false
    this.#drop(line)
    return true
  }

  /** Of those that are next: to look at ten thousand for each request that comes would take longer than to begin it. */
  #longest(): Line | undefined {
    let longest: Line | undefined
    for (const queue of [this.#urgent, this.#others]) {
      let left = mostLookedAt
      for (const line of queue.lines()) {
        if (left-- === 0) break
        if (line.waiting.length > (longest?.waiting.length ?? 0)) longest = line
      }
    }
    return longest
  }

  #drop(line: Line): void {
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
      this.#queue(line)
      this.#countTurn()
    })
  }
}
