// The HTTP/2 connections of a port: closed when idle, moved on by chance, and ended gracefully with the port.

import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'

export interface SessionLimits {
  readonly idleMs: number
  readonly goawayChance: number
}

/** How much a client may send on one connection before anything of it is read. */
const connectionWindowBytes = 1 << 22

/** How long a connection may be open without a request. */
const silentMs = 3_000

export class Http2Sessions {
  readonly #open = new Set<ServerHttp2Session>()
  readonly #limits: SessionLimits

  constructor(server: Http2Server, limits: SessionLimits) {
    this.#limits = limits
    server.on('session', (session) => this.#follow(session))
  }

  #follow(session: ServerHttp2Session): void {
    const { idleMs, goawayChance } = this.#limits
    let streams = 0
    let isUsed = false
    this.#open.add(session)
    session.once('close', () => this.#open.delete(session))
    session.on('stream', (stream: ServerHttp2Stream) => {
      streams++
      isUsed = true
      stream.once('close', () => streams--)
      if (goawayChance > 0 && Math.random() < goawayChance) session.close()
    })
    // Node does not notice that a client which sent nonsense has gone; whoever has not asked for anything by now never will.
    // What has arrived is read first: this process may have stood still itself.
    const silence = setTimeout(() => setImmediate(() => isUsed || session.destroy()), silentMs).unref()
    session.once('close', () => clearTimeout(silence))
    // A quiet watch is not an idle connection.
    session.setTimeout(idleMs, () => {
      if (streams === 0) session.close()
    })
    session.setLocalWindowSize(connectionWindowBytes)
  }

  /** No new requests; each connection ends with its last one. */
  close(): void {
    for (const session of this.#open) session.close()
  }
}
