// TCP proxy between a replica and etcd that can delay, drop or break connections.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A proxied connection: `near` is the replica, `far` is etcd. */
interface Link {
  readonly near: Socket
  readonly far: Socket
}

export class TcpProxy {
  readonly url: string
  readonly #server: Server
  readonly #links = new Set<Link>()
  #delayMs = 0
  #isDroppingAll = false
  #isDroppingResponses = false
  #receivedBytes = 0

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async start(target: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(target)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const proxy = new TcpProxy(server, `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`)
    server.on('connection', (near) => proxy.#join(near, connect(Number(port), hostname)))
    return proxy
  }

  /** Bytes received from etcd. */
  get receivedBytes(): number {
    return this.#receivedBytes
  }

  /** Delay in each direction. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Drops all data without closing connections. Dropped bytes are lost, so open connections stay dead. */
  dropAll(): void {
    this.#isDroppingAll = true
  }

  /** Requests arrive, responses are dropped. */
  dropResponses(): void {
    this.#isDroppingResponses = true
  }

  /** Lets new connections work again. */
  heal(): void {
    this.#isDroppingAll = false
    this.#isDroppingResponses = false
    this.cut()
  }

  /** Closes all connections. */
  cut(): void {
    for (const { near, far } of this.#links) {
      near.destroy()
      far.destroy()
    }
    this.#links.clear()
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(near: Socket, far: Socket): void {
    const link = { near, far }
    this.#links.add(link)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      const forward = this.#createForwarder(to, to === near)
      from.on('data', forward)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        this.#links.delete(link)
      })
    }
  }

  /** Keeps the order of chunks when the delay changes. */
  #createForwarder(to: Socket, isFromEtcd: boolean): (chunk: Buffer) => void {
    let pendingWrite: Promise<void> | undefined
    return (chunk) => {
      if (isFromEtcd) this.#receivedBytes += chunk.length
      if (this.#isDroppingAll || (isFromEtcd && this.#isDroppingResponses)) return
      if (this.#delayMs === 0 && !pendingWrite) {
        to.write(chunk)
        return
      }
      const arrived = Promise.all([sleep(this.#delayMs), pendingWrite]).then(() => {
        if (!to.destroyed) to.write(chunk)
        if (pendingWrite === arrived) pendingWrite = undefined
      })
      pendingWrite = arrived
    }
  }
}
