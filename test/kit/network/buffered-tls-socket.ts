// TLS connection that buffers its records and sends them at once, so that the server receives thousands in one read.

import { once } from 'node:events'
import { connect as connectNet, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../api-client.js'
import { secureContextFor } from '../secure-context.js'

export class BufferedTlsSocket {
  readonly #tcp: Socket
  readonly #tls: TLSSocket
  readonly #buffered: Buffer[] = []
  #isBuffering = false
  received = ''
  isClosed = false

  private constructor(tcp: Socket, ca: string, protocol: string) {
    this.#tcp = tcp
    const transport = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        if (this.#isBuffering) this.#buffered.push(chunk)
        else tcp.write(chunk)
        done()
      },
    })
    tcp.on('data', (chunk: Buffer) => transport.push(chunk))
    tcp.on('error', () => undefined)
    tcp.on('close', () => {
      this.isClosed = true
      transport.push(null)
    })
    this.#tls = connect({ socket: transport, ...secureContextFor(ca), ALPNProtocols: [protocol] })
    this.#tls.on('error', () => undefined)
    this.#tls.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1')
    })
  }

  static async open({ url, ca }: Access, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<BufferedTlsSocket> {
    const { hostname, port } = new URL(url)
    const tcp = connectNet(Number(port), hostname)
    await once(tcp, 'connect')
    const socket = new BufferedTlsSocket(tcp, ca, protocol)
    await once(socket.#tls, 'secureConnect')
    return socket
  }

  startBuffering(): void {
    this.#isBuffering = true
  }

  /** Writes one TLS record. */
  async writeRecord(bytes: string | Buffer): Promise<void> {
    await new Promise((resolve) => this.#tls.write(bytes, resolve))
  }

  /** Sends all buffered records at once, and stops buffering. */
  flush(): void {
    this.#isBuffering = false
    this.#tcp.write(Buffer.concat(this.#buffered))
    this.#buffered.length = 0
  }

  close(): void {
    this.#tls.destroy()
    this.#tcp.destroy()
  }
}
