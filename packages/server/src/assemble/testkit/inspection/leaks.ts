// Watches and connections that clients have left open.

import type { EventEmitter } from 'node:events'
import type { Exchange } from '../../../http/pipeline/exchange.js'
import type { RequestHooks } from '../../../http/pipeline/lifecycle.js'
import type { RequestLog } from './request-log.js'

export interface Leak {
  /** A stream is a log, exec, attach, port-forward or proxied connection. */
  readonly kind: 'watch' | 'stream' | 'busy connection' | 'idle connection'
  readonly user: string
  readonly userAgent: string
  /** Path and query of the stream, or of the last request of the connection. */
  readonly path: string
  /** When the stream or the first request of the connection began, by the server's clock. */
  readonly since: Date
}

/** User agent of the clients that the server itself hands out, whose connections are closed with the server. */
export const ownUserAgent = 'cluster-apiserver-client/embedded'

interface OpenConnection {
  readonly since: Date
  last: Exchange
}

/** Connections with at least one request. */
export class ClientConnections {
  readonly #open = new Map<object, OpenConnection>()

  readonly hooks: RequestHooks = {
    received: (exchange) => {
      const { connection } = exchange
      if (connection === undefined || exchange.userAgent === ownUserAgent) return
      const known = this.#open.get(connection)
      if (known !== undefined) {
        known.last = exchange
        return
      }
      this.#open.set(connection, { since: new Date(exchange.now), last: exchange })
      ;(connection as EventEmitter).once('close', () => this.#open.delete(connection))
    },
  }

  /** A connection with open streams is listed as its streams. */
  leaks(requests: RequestLog): readonly Leak[] {
    const streams: Leak[] = []
    const streaming = new Set<object | undefined>()
    const busy = new Set<object | undefined>()
    for (const [exchange, request] of requests.open) {
      busy.add(exchange.connection)
      if (!request.isOpen) continue
      streaming.add(exchange.connection)
      const { verb, user, userAgent, path, query, time } = request
      streams.push({
        kind: verb === 'watch' ? 'watch' : 'stream',
        user,
        userAgent,
        path: query === '' ? path : `${path}?${query}`,
        since: time,
      })
    }
    const connections = [...this.#open].flatMap(([connection, { since, last }]): Leak | readonly never[] => {
      if (streaming.has(connection)) return []
      const { user, userAgent, request } = last
      const kind = busy.has(connection) ? 'busy connection' : 'idle connection'
      return { kind, user: user.name, userAgent, path: request.url ?? '', since }
    })
    return [...streams, ...connections]
  }
}
