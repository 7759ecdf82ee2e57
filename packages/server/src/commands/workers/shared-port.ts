// The port of all workers: the primary accepts connections and hands each to the worker with the fewest pending ones, in turn.
// A connection is pending until its worker confirms it. Until then the primary keeps a copy, so that a worker that ends loses none.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { ListenError } from '../../net/listen/listen-error.js'

/** A worker as the port sees it. */
export interface ConnectionTarget {
  hand(id: number, socket: Socket): void
  /** Leads to `reclaim` with the same id, after the outcomes of all connections handed before. */
  confirm(id: number): void
}

interface Handed {
  readonly socket: Socket
  readonly target: ConnectionTarget
}

/** Maximum number of pending connections of one worker; more wait. */
const maxPending = 32
const maxWaiting = 1024

export class SharedPort {
  readonly #server: Server
  readonly #logger: Logger
  /** Number of pending connections by worker; the worker that got one least recently is first. */
  readonly #targets = new Map<ConnectionTarget, number>()
  readonly #handed = new Map<number, Handed>()
  readonly #waiting = new Set<Socket>()
  #lastId = 0

  constructor(logger: Logger) {
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket))
    this.#logger = logger
  }

  open(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void => reject(new ListenError(error, { host, port }))
      this.#server.once('error', refuse)
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', refuse)
        this.#server.on('error', (error) => this.#logger.error({ error: error.message }, 'listener error'))
        resolve(this.#server.address() as AddressInfo)
      })
    })
  }

  add(target: ConnectionTarget): void {
    this.#targets.set(target, 0)
    this.#handWaiting()
  }

  /** The target gets no more connections. `hasEnded`: its pending connections go to other targets. */
  remove(target: ConnectionTarget, hasEnded: boolean): void {
    this.#targets.delete(target)
    if (!hasEnded) return
    for (const [id, handed] of this.#handed) {
      if (handed.target !== target) continue
      this.#handed.delete(id)
      this.#accept(handed.socket)
    }
  }

  get hasTargets(): boolean {
    return this.#targets.size > 0
  }

  /** `isAccepted`: the target has the connection. */
  settle(id: number, isAccepted: boolean): void {
    const handed = this.#handed.get(id)
    if (handed === undefined) return
    this.#handed.delete(id)
    const pending = this.#targets.get(handed.target)
    if (pending !== undefined) this.#targets.set(handed.target, pending - 1)
    // Closes the copy of the primary only.
    if (isAccepted) handed.socket.destroy()
    else this.#accept(handed.socket)
    this.#handWaiting()
  }

  /** Finds connections that are lost on their way: Node.js gives up if the worker has no free file descriptor for the socket. */
  findLost(): void {
    for (const [target, pending] of this.#targets) if (pending > 0) target.confirm(this.#lastId)
  }

  /** The target has no outcome for connections up to this id: they are handed again. */
  reclaim(target: ConnectionTarget, upTo: number): void {
    for (const [id, handed] of this.#handed) if (id <= upTo && handed.target === target) this.settle(id, false)
  }

  /** Ends connections that wait for a worker. */
  dropWaiting(): void {
    for (const socket of this.#waiting) socket.destroy()
  }

  close(): void {
    this.#server.close()
    this.dropWaiting()
    for (const { socket } of this.#handed.values()) socket.destroy()
  }

  #accept(socket: Socket): void {
    if (socket.listenerCount('error') === 0) socket.on('error', () => undefined)
    if (this.#hand(socket)) return
    if (this.#waiting.size >= maxWaiting || !this.#server.listening) {
      socket.destroy()
      return
    }
    this.#waiting.add(socket)
    socket.once('close', () => this.#waiting.delete(socket))
  }

  #handWaiting(): void {
    for (const socket of this.#waiting) {
      if (!this.#hand(socket)) return
      this.#waiting.delete(socket)
    }
  }

  #hand(socket: Socket): boolean {
    let target: ConnectionTarget | undefined
    let fewest = maxPending
    for (const [candidate, pending] of this.#targets) {
      if (pending >= fewest) continue
      target = candidate
      fewest = pending
    }
    if (target === undefined) return false
    // Moves to the end: its turn comes after the others.
    this.#targets.delete(target)
    this.#targets.set(target, fewest + 1)
    const id = ++this.#lastId
    this.#handed.set(id, { socket, target })
    target.hand(id, socket)
    return true
  }
}
