// A network between a replica and etcd that can be slow, swallow everything, or break.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

interface Link {
  readonly near: Socket
  readonly far: Socket
}

export class TcpProxy {
  readonly url: string
  readonly #server: Server
  readonly #links = new Set<Link>()
  #delayMs = 0
  #isSwallowing = false
  #isSwallowingAnswers = false
  #answeredBytes = 0

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

  /** How much etcd has sent. */
  get answeredBytes(): number {
    return this.#answeredBytes
  }

  /** Everything takes this much longer, in each direction. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs
  }

  /** Nothing arrives any more, and nobody is told. What was swallowed is lost, so the connections that are open then stay dead. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** What is sent arrives, what is answered does not. */
  swallowAnswers(): void {
    this.#isSwallowingAnswers = true
  }

  /** New connections work again. */
  heal(): void {
    this.#isSwallowing = false
    this.#isSwallowingAnswers = false
    this.cut()
  }

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
      const carry = this.#createCarrier(to, to === near)
      from.on('data', carry)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        this.#links.delete(link)
      })
    }
  }

  /** What was sent first arrives first, however the delay changes. */
  #createCarrier(to: Socket, isAnswering: boolean): (chunk: Buffer) => void {
    let underWay: Promise<void> | undefined
    return (chunk) => {
      if (isAnswering) this.#answeredBytes += chunk.length
      if (this.#isSwallowing || (isAnswering && this.#isSwallowingAnswers)) return
      if (this.#delayMs === 0 && !underWay) {
        to.write(chunk)
        return
      }
      const arrived = Promise.all([sleep(this.#delayMs), underWay]).then(() => {
        if (!to.destroyed) to.write(chunk)
        if (underWay === arrived) underWay = undefined
      })
      underWay = arrived
    }
  }
}
