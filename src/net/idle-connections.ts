// The connections of HTTP/1.1 on which nothing is asked, closed a few in each turn of the event loop when their port is: of two thousand, Node would do
// that in one piece of 150 ms, while others are still served.
//
// Node has no words for that: it keeps a list of connections, and only that says which of them have no request under way.

import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { PacedEnds } from './paced-ends.js'
import { isAnswering } from './queued-answers.js'

interface Connections {
  /** Of each what reads it. */
  idle(): readonly { readonly socket?: Socket | null }[]
}

const isConnections = (value: unknown): value is Connections =>
  typeof (value as Partial<Connections> | null | undefined)?.idle === 'function'

/** Undefined where this version of Node keeps it elsewhere. */
export const connectionsOf = (server: unknown): Connections | undefined =>
  Object.getOwnPropertySymbols(server ?? {})
    .map((name) => (server as Readonly<Record<symbol, unknown>>)[name])
    .find(isConnections)

/** Node asks for it as well, when the server is closed. */
export function paceIdle(server: Server, ends: PacedEnds): void {
  const connections = connectionsOf(server)
  if (connections === undefined) return
  const waiting = new Set<Socket>()
  server.closeIdleConnections = () => {
    for (const { socket } of connections.idle()) {
      if (!socket || socket.destroyed || waiting.has(socket)) continue
      waiting.add(socket)
      ends.soon(() => {
        waiting.delete(socket)
        if (!isAnswering(socket)) socket.destroy()
      })
    }
  }
}
