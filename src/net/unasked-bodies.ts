// How much of bodies a connection has brought that nobody has asked for yet: of requests that wait for their turn, or until it is known who sent them.
// Nobody else counts it. A connection that has brought much is not read from until some of it was asked for, or let go.

import type { Socket } from 'node:net'
import { goOnReading, stopReading } from './read-control.js'

/** What one reading of a connection brings: a write of 50 KB that comes at once, and has to wait, does not stop anything. */
const mostBytes = 64 << 10
/** What the smallest part takes. */
const leastBytes = 256

const heldBytes = new WeakMap<Socket, number>()

/** Returns what is to be released for it. */
export function holdUnasked(socket: Socket, part: Buffer): number {
  const bytes = Math.max(part.length, leastBytes)
  const held = (heldBytes.get(socket) ?? 0) + bytes
  heldBytes.set(socket, held)
  // Each time: what was read with it comes as well, and with it the end of a body, after which Node reads on.
  if (held > mostBytes) stopReading(socket, 'bodies')
  return bytes
}

export function releaseUnasked(socket: Socket, bytes: number): void {
  const held = (heldBytes.get(socket) ?? 0) - bytes
  heldBytes.set(socket, held)
  if (held <= mostBytes) goOnReading(socket, 'bodies')
}
