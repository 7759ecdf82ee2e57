// Stops and goes on with the reading of a connection without telling anybody: whoever reads goes on where this ends. Where what has come is handed on
// a little at a time (paced-input), that stops as well.

import type { Socket } from 'node:net'

interface Handle {
  readStop?(): void
  readStart?(): void
}

/** Who hands on what has come on a connection. */
export interface Feeder {
  stop(): void
  goOn(): void
}

const feeders = new WeakMap<Socket, Feeder>()

const handleOf = (socket: Socket): Handle | null | undefined => (socket as unknown as { readonly _handle?: Handle | null })._handle

export const setFeeder = (socket: Socket, feeder: Feeder): void => void feeders.set(socket, feeder)

export function stopReading(socket: Socket): void {
  handleOf(socket)?.readStop?.()
  feeders.get(socket)?.stop()
}

/** A feeder reads on when it has handed on what there is. */
export function goOnReading(socket: Socket): void {
  const feeder = feeders.get(socket)
  if (feeder === undefined) handleOf(socket)?.readStart?.()
  else feeder.goOn()
}
