// How much may be written to a connection before its writers are told to wait, and how much of that still waits; and how much has come.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { handleOf } from './socket-handle.js'

/** For a whole answer: see roomForAnswers in listen.ts. */
export const answerRoomBytes = 2 << 20
/** For streams, whose writers do wait: what is written here exists up to three times, as it is, joined and encrypted. */
export const streamRoomBytes = 64 << 10

/** For streams where there are very many of them. */
export const crowdedRoomBytes = 16 << 10

/** The option that should set this has no effect on TLS sockets. */
export function setRoom(socket: Duplex, bytes: number): void {
  const state = (socket as unknown as { readonly _writableState?: { highWaterMark: number } })._writableState
  if (state !== undefined) state.highWaterMark = bytes
}

/** How many bytes the system has not taken yet, as far as Node knows. */
export function unsentBytes(socket: Duplex): number {
  const handle = handleOf(socket)
  return (handle?.writeQueueSize ?? 0) + (handle?._parent?.writeQueueSize ?? 0)
}

/** How many bytes have come: of the connection under TLS, where that is known. */
export function receivedBytes(socket: Socket): number {
  const handle = handleOf(socket)
  return handle?._parent?.bytesRead ?? socket.bytesRead
}
