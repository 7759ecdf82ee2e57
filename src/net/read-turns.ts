// Fairness between connections that send small parts: chunks, records and frames of a few bytes cost a microsecond or two each, however short they
// are, and up to two megabytes of one connection are read in a turn of the event loop, which can be a hundred thousand of them.
//
// What a connection sends is counted in parts. One that has sent many is not read from until its turn comes again, and of those that wait a few
// go on in each turn, by how much they brought last time. Where many have brought some, all others wait for the next turn as well. So a turn reads
// a few thousand parts, and what one reading of one more connection brings.
//
// Not all parts are seen: frames for a stream that is gone never leave Node's own code. So whoever has sent many is suspected until a turn has come in
// which it sent few bytes, whatever they were, and of those who are suspected one at a time is read from.

import type { Socket } from 'node:net'
import { endPause, pauseReading } from './read-control.js'
import { receivedBytes } from './socket-room.js'

/** So many of one connection come in a turn without a pause, and the rest of what was read with them. */
const partsPerConnection = 128
/** At so many that were not requests it is left to whoever sees to it, where somebody does: more than the bodies of all requests that can be open. */
const smallPerConnection = 512
/** Of all connections together. */
const partsPerTurn = 2048
/** What nobody has seen may be in any number of parts: so much of it counts as one. */
const unseenBytes = 64

/** One connection, as long as it is open. */
export interface Reading {
  readonly socket: Socket
  /** In the turn in which it was last counted. */
  parts: number
  turn: number
  /** How many of them were not requests. */
  small: number
  /** Of bodies, where they are counted. */
  bodyBytes: number
  /** 'left': to whoever was asked to see to it. */
  state: 'read' | 'held' | 'waiting' | 'left'
  /** Whom to leave it to when it has brought much, where that can be done. */
  takeOver: (() => boolean) | undefined
  isSuspect: boolean
  /** How many had come when it was last let go on. */
  receivedBytes: number
}

export class ReadTurns {
  readonly #open = new Set<Reading>()
  readonly #of = new WeakMap<Socket, Reading>()
  /** Those that have brought much, in the order in which they go on. */
  readonly #waiting = new Set<Reading>()
  #held: Reading[] = []
  /** Those that have just been let go on. */
  #tried: Reading[] = []
  #turn = 0
  #parts = 0
  #isTurnCounted = false

  /** Known until the connection is closed. */
  of(socket: Socket): Reading {
    const known = this.#of.get(socket)
    if (known !== undefined) return known
    const reading: Reading = {
      socket,
      parts: 0,
      turn: 0,
      small: 0,
      bodyBytes: 0,
      state: 'read',
      takeOver: undefined,
      isSuspect: false,
      receivedBytes: 0,
    }
    this.#of.set(socket, reading)
    this.#open.add(reading)
    socket.once('close', () => {
      this.#open.delete(reading)
      this.#waiting.delete(reading)
    })
    return reading
  }

  /** So many parts have come; `isRequest`: what a request is worth. */
  count(reading: Reading, parts: number, isRequest = false): void {
    // The rest of what was read with it comes in the same turn.
    if (reading.state === 'left' && reading.turn !== this.#turn) return
    this.#countTurn()
    if (reading.turn !== this.#turn) {
      reading.turn = this.#turn
      reading.parts = 0
      reading.small = 0
    }
    reading.parts += parts
    this.#parts += parts
    if (!isRequest) reading.small += parts
    if (reading.small >= smallPerConnection) this.#leave(reading)
    if (reading.parts >= partsPerConnection && reading.state !== 'left') {
      if (reading.state !== 'waiting') this.#wait(reading)
      // Node reads again by itself when it has written something.
      else if (reading.parts % partsPerConnection < parts) pauseReading(reading.socket)
    }
    if (this.#parts >= partsPerTurn && this.#held.length === 0) this.#holdOthers()
  }

  /** Much has come that was no part of anything. */
  suspect(reading: Reading): void {
    if (reading.state !== 'read' || !this.#open.has(reading)) return
    if (this.#leave(reading)) return
    reading.parts = Math.max(reading.parts, partsPerTurn)
    this.#wait(reading)
    this.#countTurn()
  }

  /** To whoever sees to it; false where nobody does. */
  #leave(reading: Reading): boolean {
    if (reading.state === 'left') return true
    if (reading.takeOver?.() !== true) return false
    const isStopped = reading.state !== 'read'
    reading.state = 'left'
    this.#waiting.delete(reading)
    if (isStopped) endPause(reading.socket)
    return true
  }

  #wait(reading: Reading): void {
    reading.state = 'waiting'
    reading.isSuspect = true
    this.#waiting.add(reading)
    // Nobody is told: whoever reads goes on where this ends.
    pauseReading(reading.socket)
  }

  #holdOthers(): void {
    for (const reading of this.#open) {
      if (reading.state !== 'read') continue
      if (reading.isSuspect) {
        this.#wait(reading)
        continue
      }
      reading.state = 'held'
      this.#held.push(reading)
      pauseReading(reading.socket)
    }
  }

  #countTurn(): void {
    if (this.#isTurnCounted) return
    this.#isTurnCounted = true
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isTurnCounted = false
    this.#turn++
    this.#parts = 0
    const held = this.#held
    this.#held = []
    for (const reading of held) if (reading.state === 'held') this.#goOn(reading)
    const tried = this.#tried
    this.#tried = []
    for (const reading of tried) this.#judge(reading)
    let parts = 0
    for (const reading of this.#waiting) {
      parts += reading.parts
      if (parts > partsPerTurn && parts !== reading.parts) break
      this.#waiting.delete(reading)
      reading.receivedBytes = receivedBytes(reading.socket)
      this.#tried.push(reading)
      this.#goOn(reading)
    }
    if (this.#waiting.size > 0 || this.#tried.length > 0) this.#countTurn()
  }

  /** By what it has sent since it was let go on. */
  #judge(reading: Reading): void {
    if (reading.state !== 'read' || !this.#open.has(reading)) return
    const parts = (receivedBytes(reading.socket) - reading.receivedBytes) / unseenBytes
    reading.isSuspect = parts >= partsPerConnection
    if (!reading.isSuspect) return
    reading.parts = parts
    this.#wait(reading)
  }

  #goOn(reading: Reading): void {
    reading.state = 'read'
    endPause(reading.socket)
  }
}
