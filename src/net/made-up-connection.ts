// A connection on which nobody says anything, handed to a server. What Node's server reads with is nowhere to be had but at a connection of it.

import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { parserOf } from './http1-parts.js'

export interface MadeUp<T> {
  readonly made: T
  /** What was made must not be used afterwards. */
  close(): void
}

export const silentConnection = (): Duplex =>
  new Duplex({ read: () => undefined, write: (_part, _encoding, done) => done() }).on('error', () => undefined)

/** The parser of HTTP/1.1 that Node's server gave to a connection. */
export function madeUpParser(): MadeUp<unknown> {
  const socket = silentConnection()
  createServer().emit('connection', socket)
  return { made: parserOf(socket), close: () => void socket.destroy() }
}
