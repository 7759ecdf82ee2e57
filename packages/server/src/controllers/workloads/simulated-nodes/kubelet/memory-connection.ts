// Connections within the process, which look like sockets to the HTTP client and server of Node.js.

import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'

/** Returns the end of the client and the end of the server. One end buffers at most 32 KiB that the other has not read. */
export function memoryConnection(): readonly [client: Socket, server: Duplex] {
  const [client, server] = duplexPair({ highWaterMark: 16 << 10 })
  for (const [end, other] of [
    [client, server],
    [server, client],
  ] as const) {
    end.on('error', () => undefined)
    // A destroyed end closes the other one, as a reset does.
    end.once('close', () => void setImmediate(() => other.destroy()))
  }
  return [asSocket(client), asSocket(server)]
}

/** Adds the methods of sockets that the HTTP client calls: there is no network whose timeouts they could set. */
function asSocket(duplex: Duplex): Socket {
  const same = (): Duplex => duplex
  return Object.assign(duplex, { setTimeout: same, setKeepAlive: same, setNoDelay: same, ref: same, unref: same }) as unknown as Socket
}
