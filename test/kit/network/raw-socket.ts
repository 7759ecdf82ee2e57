// TLS socket without an HTTP library, for malformed requests.

import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../api-client.js'
import { secureContextFor } from '../secure-context.js'

export class RawSocket {
  readonly socket: TLSSocket
  received = ''
  isClosed = false
  private wake: () => void = () => undefined

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1')
      this.wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
      this.wake()
    })
  }

  static open(access: Access, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(access.url)
      const socket = connect({ host: hostname, port: Number(port), ...secureContextFor(access.ca), ALPNProtocols: [protocol] }, () => {
        socket.off('error', reject)
        resolve(new RawSocket(socket))
      })
      socket.once('error', reject)
    })
  }

  write(data: string | Buffer): void {
    if (!this.socket.destroyed) this.socket.write(data)
  }

  /** Waits until the text matches, the connection is closed, or the time is up; returns the text. */
  async until(isEnough: (received: string) => boolean, timeoutMs: number): Promise<string> {
    const end = Date.now() + timeoutMs
    while (!this.isClosed && !isEnough(this.received) && Date.now() < end) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - Date.now())
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.received
  }

  /** Status codes of the responses, in order. */
  get statuses(): readonly number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))
  }

  close(): void {
    this.socket.destroy()
  }
}
