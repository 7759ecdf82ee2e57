// Fair request queue: round-robin by user; connections not authenticated yet count as one user; health probes get every second slot.
// Requests start in immediates, after all readable sockets were read, so that responses are written together: saves 15 % of a small GET.

import type { Socket } from 'node:net'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'

/** Requests that start per turn of the event loop even if its time budget is spent. */
const minPerTurn = 16
/** Maximum number of requests that start per turn. */
const maxPerTurn = 64
/** Pipelined requests of one connection that run before earlier ones have their response. */
const maxPipelined = 8
/** Waiting requests at which an HTTP/1.1 connection is paused, and at which it is resumed. */
const pauseAt = 64
const resumeAt = 16
/** Waiting requests of all users beyond which connections of users with more than the average are closed when they send another. */
const maxWaiting = 10_000
/** Waiting requests of an unauthenticated HTTP/1.1 connection; one TLS record may contain 450. */
const maxWaitingUnauthenticated = 128
/** Owners of connections without credentials; '' before the first request. */
const unauthenticated: ReadonlySet<string> = new Set(['', 'system:anonymous', 'system:unauthenticated'])

/** An HTTP/1.1 response, which is sent in the order of requests. */
interface PipelinedResponse {
  readonly socket: Socket | null
  once(event: 'close', listener: () => void): unknown
}

export interface IncomingRequest {
  readonly connection: object
  readonly socket: Socket
  readonly begin: () => void
  readonly response?: PipelinedResponse
  readonly isUrgent?: boolean
}

interface WaitingRequest {
  readonly request: IncomingRequest
  /** The user whom the request counts for; the connection's user may change before it starts. */
  readonly owner: string
}

interface ConnectionQueue {
  readonly connection: object
  readonly socket: Socket
  waiting: WaitingRequest[]
  /** Running requests whose response must wait for an earlier one. */
  pipelined: number
  isPaused: boolean
}

const owners = new WeakMap<object, string>()

/** Sets the user of a connection once it is known. */
export function setOwner(connection: object, user: string): void {
  if (owners.get(connection) !== user) owners.set(connection, user)
}

const ownerOf = (connection: object): string => owners.get(connection) ?? ''

class UserQueue {
  readonly #byOwner = new Map<string, Set<ConnectionQueue>>()

  get isEmpty(): boolean {
    return this.#byOwner.size === 0
  }

  add(queue: ConnectionQueue): void {
    getOrInsert(this.#byOwner, ownerOf(queue.connection), () => new Set()).add(queue)
  }

  /** Takes the next connection of the next user, and moves that user to the end. */
  takeNext(): ConnectionQueue | undefined {
    for (const [owner, queues] of this.#byOwner) {
      this.#byOwner.delete(owner)
      for (const queue of queues) {
        queues.delete(queue)
        if (queues.size > 0) this.#byOwner.set(owner, queues)
        return queue
      }
    }
    return undefined
  }
}

export class FairRequestQueue {
  readonly #connections = new WeakMap<object, ConnectionQueue>()
  readonly #urgent = new UserQueue()
  readonly #others = new UserQueue()
  #isUrgentNext = false
  readonly #waitingByOwner = new Map<string, number>()
  #waitingCount = 0
  readonly #budget: TurnBudget
  /** The turn of the event loop that #started counts for. */
  #turn = 0
  #started = 0
  /** Immediates that will start a request each. */
  #planned = 0

  constructor(budget = turnBudget) {
    this.#budget = budget
  }

  /** Starts a request in this turn or a later one, unless its connection is closed by then. */
  run(request: IncomingRequest): void {
    const { connection, socket, response } = request
    if (socket.destroyed) return
    const queue = this.#connectionQueueOf(connection, socket)
    const owner = ownerOf(connection)
    const isPipelined = response !== undefined
    const isTooMany =
      (this.#waitingCount >= maxWaiting && this.#isAboveAverage(owner)) ||
      (isPipelined && queue.waiting.length >= maxWaitingUnauthenticated && unauthenticated.has(owner))
    if (isTooMany && queue.waiting.length > 0) {
      this.#dropWaiting(queue)
      socket.destroy()
      return
    }
    this.#count(owner, 1)
    queue.waiting.push({ request, owner })
    if (queue.waiting.length === 1 && queue.pipelined < maxPipelined) this.#enqueue(queue)
    // Pauses again for each request: Node.js resumes the socket when a body has been read.
    if (!isPipelined || queue.waiting.length < pauseAt) return
    queue.isPaused = true
    socket.pause()
  }

  #connectionQueueOf(connection: object, socket: Socket): ConnectionQueue {
    let queue = this.#connections.get(connection)
    if (queue === undefined) {
      queue = { connection, socket, waiting: [], pipelined: 0, isPaused: false }
      this.#connections.set(connection, queue)
    }
    return queue
  }

  #enqueue(queue: ConnectionQueue): void {
    const byUser = queue.waiting[0]?.request.isUrgent === true ? this.#urgent : this.#others
    byUser.add(queue)
    this.#plan()
  }

  /** One immediate per request, so that its work and time are accounted for before the next starts. */
  #plan(): void {
    if (this.#planned === maxPerTurn) return
    this.#planned++
    setImmediate(this.#startNext)
  }

  readonly #startNext = (): void => {
    this.#planned--
    const queue = this.#hasTime() ? this.#takeNext() : undefined
    try {
      if (queue?.socket.destroyed) this.#dropWaiting(queue)
      else if (queue !== undefined && queue.pipelined < maxPipelined) this.#start(queue)
    } finally {
      if (this.#planned === 0 && !(this.#urgent.isEmpty && this.#others.isEmpty)) this.#planAll()
    }
  }

  #planAll(): void {
    for (let i = 0; i < Math.min(maxPerTurn, this.#waitingCount); i++) this.#plan()
  }

  #hasTime(): boolean {
    const { isSpent, turn } = this.#budget
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#started = 0
    }
    return !isSpent || this.#started < minPerTurn
  }

  #takeNext(): ConnectionQueue | undefined {
    this.#isUrgentNext = !this.#isUrgentNext
    const [first, second] = this.#isUrgentNext ? [this.#urgent, this.#others] : [this.#others, this.#urgent]
    return first.takeNext() ?? second.takeNext()
  }

  #start(queue: ConnectionQueue): void {
    const next = queue.waiting.shift()
    if (next === undefined) return
    this.#count(next.owner, -1)
    this.#started++
    if (queue.isPaused && queue.waiting.length <= resumeAt) {
      queue.isPaused = false
      queue.socket.resume()
    }
    const { response, begin } = next.request
    if (response?.socket === null) this.#trackPipelined(queue, response)
    if (queue.waiting.length > 0) this.#enqueue(queue)
    begin()
  }

  #trackPipelined(queue: ConnectionQueue, response: PipelinedResponse): void {
    queue.pipelined++
    response.once('close', () => {
      if (queue.pipelined-- === maxPipelined && queue.waiting.length > 0) this.#enqueue(queue)
    })
  }

  #dropWaiting(queue: ConnectionQueue): void {
    for (const { owner } of queue.waiting) this.#count(owner, -1)
    queue.waiting = []
  }

  #count(owner: string, change: 1 | -1): void {
    this.#waitingCount += change
    const waiting = (this.#waitingByOwner.get(owner) ?? 0) + change
    if (waiting === 0) this.#waitingByOwner.delete(owner)
    else this.#waitingByOwner.set(owner, waiting)
  }

  #isAboveAverage(owner: string): boolean {
    return (this.#waitingByOwner.get(owner) ?? 0) * this.#waitingByOwner.size >= this.#waitingCount
  }
}
