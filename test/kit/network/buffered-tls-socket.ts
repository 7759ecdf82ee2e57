// A TLS connection whose records are held back and then sent at once, so that thousands of them are there when the server looks.

import { once } from 'node:events'
import { connect as connectNet, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from './api-client.js'
import { trusting } from './trust.js'

export class HeldSocket {
  readonly #tcp: Socket
  readonly #tls: TLSSocket
  readonly #held: Buffer[] = []
  #isHolding = false
  received = ''
  isClosed = false

  private constructor(tcp: Socket, ca: string, protocol: string) {
    this.#tcp = tcp
    const between = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        if (this.#isHolding) this.#held.push(chunk)
        else tcp.write(chunk)
        done()
      },
    })
    tcp.on('data', (chunk: Buffer) => between.push(chunk))
    tcp.on('error', () => undefined)
    tcp.on('close', () => {
      this.isClosed = true
      between.push(null)
    })
    this.#tls = connect({ socket: between, ...trusting(ca), ALPNProtocols: [protocol] })
    this.#tls.on('error', () => undefined)
    this.#tls.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1')
    })
  }

  static async open({ url, ca }: Access, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<HeldSocket> {
    const { hostname, port } = new URL(url)
    const tcp = connectNet(Number(port), hostname)
    await once(tcp, 'connect')
    const held = new HeldSocket(tcp, ca, protocol)
    await once(held.#tls, 'secureConnect')
    return held
  }

  /** From here on nothing leaves. */
  hold(): void {
    this.#isHolding = true
  }

  /** As a record of its own. */
  async writeRecord(bytes: string | Buffer): Promise<void> {
    await new Promise((resolve) => this.#tls.write(bytes, resolve))
  }

  /** Everything that was held goes at once. */
  release(): void {
    this.#isHolding = false
    this.#tcp.write(Buffer.concat(this.#held))
    this.#held.length = 0
  }

  close(): void {
    this.#tls.destroy()
    this.#tcp.destroy()
  }
}
