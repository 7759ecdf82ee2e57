// Stops and goes on with the reading of a connection without telling anybody: whoever reads goes on where this ends. Where what has come is handed on
// a little at a time (paced-input), that stops as well.
//
// Who stops a connection until something has happened gives a reason. As long as there is one, those who only make a pause do not end it with theirs.

import type { Socket } from 'node:net'
import { handleOf } from './socket-handle.js'

/** Who hands on what has come on a connection. */
export interface Feeder {
  stop(): void
  goOn(): void
}

/** Why a connection is not read from: many of its requests wait, or much of their bodies that nobody has asked for. */
export type StopReason = 'requests' | 'bodies'

const feeders = new WeakMap<Socket, Feeder>()
const stopped = new WeakMap<Socket, Set<StopReason>>()

export function setFeeder(socket: Socket, feeder: Feeder): void {
  feeders.set(socket, feeder)
  if (isStopped(socket)) feeder.stop()
}

/** Can be called again: Node reads again by itself when a body that nobody took has ended. */
export function stopReading(socket: Socket, reason: StopReason): void {
  const reasons = stopped.get(socket)
  if (reasons === undefined) stopped.set(socket, new Set([reason]))
  else reasons.add(reason)
  pauseReading(socket)
  feeders.get(socket)?.stop()
}

/** A feeder reads on when it has handed on what there is. */
export function goOnReading(socket: Socket, reason: StopReason): void {
  const reasons = stopped.get(socket)
  if (reasons?.delete(reason) !== true || reasons.size > 0) return
  const feeder = feeders.get(socket)
  if (feeder === undefined) endPause(socket)
  else feeder.goOn()
}

/** For a while, and not for a reason. */
export function pauseReading(socket: Socket): void {
  handleOf(socket)?.readStop?.()
}

/** Unless somebody else has stopped it, or Node has. */
export function endPause(socket: Socket): void {
  const handle = handleOf(socket)
  if (handle?.reading !== false && !isStopped(socket)) handle?.readStart?.()
}

const isStopped = (socket: Socket): boolean => (stopped.get(socket)?.size ?? 0) > 0
