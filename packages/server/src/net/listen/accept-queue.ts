// Accepts TCP connections and starts a few TLS handshakes per turn of the event loop: each costs about a millisecond.

import { createServer, type Server, type Socket } from 'node:net'

export interface AcceptLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Maximum number of concurrent handshakes. While clients wait, the oldest is closed if it takes longer than a second. */
  readonly maxHandshakes: number
}

/** Handshakes that are begun in one turn of the event loop. */
const handshakesPerTurn = 8
/** Age from which a handshake may be closed while other clients wait. */
const minEvictionAgeMs = 1_000
const retryMs = 10
/** Bytes that a client may send before its handshake begins: more than a ClientHello. */
const maxEarlyBytes = 16 << 10
/** TCP keep-alive detects dead peers. */
const keepAliveMs = 60_000

/** Identifies a connection: the TLSSocket has the same peer address and port as its TCP socket. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

export class AcceptQueue {
  readonly server: Server
  readonly #limits: AcceptLimits
  readonly #beginTls: (socket: Socket) => void
  readonly #open = new Set<Socket>()
  readonly #perAddress = new Map<string, number>()
  readonly #waiting = new Set<Socket>()
  /** By peer, oldest first. */
  readonly #handshakes = new Map<string, { readonly socket: Socket; readonly begunMs: number }>()
  #isPlanned = false
  #onEmpty: (() => void) | undefined

  constructor(limits: AcceptLimits, beginTls: (socket: Socket) => void) {
    this.#limits = limits
    this.#beginTls = beginTls
    const options = { pauseOnConnect: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs }
    this.server = createServer(options, (socket) => this.#accept(socket))
    this.server.maxConnections = limits.maxConnections
  }

  /** Accepts a connection of a port that another process has opened. */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) {
      socket.destroy()
      return
    }
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveMs)
    // Node.js reads a socket from another process at once; one of the own port is paused.
    socket.on('readable', limitEarlyBytes)
    this.#accept(socket)
  }

  /** Resolves when no connection is open. */
  whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve
      if (this.#open.size === 0) resolve()
    })
  }

  /** Called when a handshake has finished; returns the TCP socket below the TLSSocket. */
  finishHandshake(socket: Socket): Socket | undefined {
    const peer = peerOf(socket)
    const accepted = this.#handshakes.get(peer)?.socket
    this.#handshakes.delete(peer)
    return accepted
  }

  closeHandshakes(): void {
    for (const socket of [...this.#waiting, ...[...this.#handshakes.values()].map((handshake) => handshake.socket)]) socket.destroy()
  }

  closeAll(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #accept(socket: Socket): void {
    const { remoteAddress } = socket
    const count = this.#perAddress.get(remoteAddress ?? '') ?? 0
    // Without an address the client has disconnected already.
    if (remoteAddress === undefined || count >= this.#limits.maxConnectionsPerAddress) {
      socket.destroy()
      return
    }
    const peer = peerOf(socket)
    this.#perAddress.set(remoteAddress, count + 1)
    this.#open.add(socket)
    this.#waiting.add(socket)
    socket.on('error', ignore)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#waiting.delete(socket)
      if (this.#handshakes.get(peer)?.socket === socket) this.#handshakes.delete(peer)
      const remaining = (this.#perAddress.get(remoteAddress) ?? 1) - 1
      if (remaining > 0) this.#perAddress.set(remoteAddress, remaining)
      else this.#perAddress.delete(remoteAddress)
      if (this.#open.size === 0) this.#onEmpty?.()
    })
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#beginHandshakes())
  }

  #beginHandshakes(): void {
    this.#isPlanned = false
    let begun = 0
    for (const socket of this.#waiting) {
      if (begun++ >= handshakesPerTurn) break
      if (!this.#hasHandshakeSlot()) {
        this.#isPlanned = true
        setTimeout(() => this.#beginHandshakes(), retryMs)
        return
      }
      this.#waiting.delete(socket)
      this.#begin(socket)
    }
    if (this.#waiting.size > 0) this.#plan()
  }

  /** Returns true if a handshake may start; evicts the oldest one if it is old enough. */
  #hasHandshakeSlot(): boolean {
    if (this.#handshakes.size < this.#limits.maxHandshakes) return true
    const [oldest] = this.#handshakes
    if (oldest === undefined || performance.now() - oldest[1].begunMs < minEvictionAgeMs) return false
    this.#handshakes.delete(oldest[0])
    oldest[1].socket.destroy()
    return true
  }

  #begin(socket: Socket): void {
    socket.off('readable', limitEarlyBytes)
    this.#handshakes.set(peerOf(socket), { socket, begunMs: performance.now() })
    this.#beginTls(socket)
  }
}

function limitEarlyBytes(this: Socket): void {
  if (this.readableLength > maxEarlyBytes) this.destroy()
}

/** The TLS server reports errors of the connection. */
const ignore = (): void => undefined
