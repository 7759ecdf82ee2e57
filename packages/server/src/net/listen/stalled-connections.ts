// Closes connections whose clients do not read, to free the memory of unsent bytes.
// Time is counted in checks, not by a clock, so that a suspended process does not close its clients.

import type { Socket } from 'node:net'

interface Progress {
  readonly bytesWritten: number
  readonly writableLength: number
  readonly checks: number
}

/** Connections whose writers apply back-pressure, and so buffer little. */
const exempt = new WeakSet<object>()

export const exemptFromStallCheck = (socket: object): void => void exempt.add(socket)
export const endStallExemption = (socket: object): void => void exempt.delete(socket)

export class StalledConnections {
  readonly #maxChecks: number
  readonly #timer: NodeJS.Timeout
  readonly #sockets = new Map<Socket, Progress | undefined>()

  constructor({ stallMs, checkMs = 1000 }: { readonly stallMs: number; readonly checkMs?: number }) {
    this.#maxChecks = Math.max(2, Math.ceil(stallMs / checkMs))
    this.#timer = setInterval(() => this.#check(), checkMs).unref()
  }

  watch(socket: Socket): void {
    this.#sockets.set(socket, undefined)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    for (const [socket, previous] of this.#sockets) {
      const writableLength = exempt.has(socket) ? 0 : socket.writableLength
      if (writableLength === 0) {
        if (previous !== undefined) this.#sockets.set(socket, undefined)
        continue
      }
      const { bytesWritten } = socket
      const isStalled = previous?.bytesWritten === bytesWritten && previous.writableLength === writableLength
      const checks = isStalled ? previous.checks + 1 : 0
      if (checks >= this.#maxChecks) socket.destroy()
      else this.#sockets.set(socket, { bytesWritten, writableLength, checks })
    }
  }
}
