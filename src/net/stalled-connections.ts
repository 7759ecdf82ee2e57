// Connections whose clients do not take what was written to them: they are cut after a while, so that what waits for them can be freed.
//
// Time is counted in looks and not by a clock: a process that stood still for an hour must not blame its clients for that.

import type { Socket } from 'node:net'
import { unsentBytes } from './socket-room.js'

interface Progress {
  readonly writtenBytes: number
  readonly queuedBytes: number
  readonly looks: number
}

/** Whose clients may take as long as they like: whoever writes to them waits, and holds hardly anything meanwhile. */
const patient = new WeakSet<object>()

export const bePatientWith = (socket: object): void => void patient.add(socket)
export const endPatienceWith = (socket: object): void => void patient.delete(socket)

export class StalledConnections {
  readonly #stallLooks: number
  readonly #timer: NodeJS.Timeout
  readonly #sockets = new Map<Socket, Progress | undefined>()

  constructor({ stallMs, lookMs = 1000 }: { readonly stallMs: number; readonly lookMs?: number }) {
    this.#stallLooks = Math.max(2, Math.ceil(stallMs / lookMs))
    this.#timer = setInterval(() => this.#look(), lookMs).unref()
  }

  watch(socket: Socket): void {
    this.#sockets.set(socket, undefined)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    for (const [socket, before] of this.#sockets) {
      const waitingBytes = patient.has(socket) ? 0 : socket.writableLength
      if (waitingBytes === 0) {
        if (before !== undefined) this.#sockets.set(socket, undefined)
        continue
      }
      const writtenBytes = socket.bytesWritten - waitingBytes
      const queuedBytes = unsentBytes(socket)
      const isStuck = before?.writtenBytes === writtenBytes && before.queuedBytes === queuedBytes
      const looks = isStuck ? before.looks + 1 : 0
      if (looks >= this.#stallLooks) socket.destroy()
      else this.#sockets.set(socket, { writtenBytes, queuedBytes, looks })
    }
  }
}
