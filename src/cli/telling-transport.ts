// With -v: every request is told, when its answer begins; with more of it also what was sent.

import type { MessageSocket, SocketRequest, Transport, TransportRequest, TransportResponse } from '../client/transport.js'

const fromBodies = 8

export class TellingTransport implements Transport {
  private readonly inner: Transport
  private readonly server: string
  private readonly level: number
  private readonly tell: (line: string) => void

  constructor(inner: Transport, options: { readonly server: string; readonly level: number; readonly tell: (line: string) => void }) {
    this.inner = inner
    this.server = options.server.replace(/\/$/, '')
    this.level = options.level
    this.tell = options.tell
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { method, path, body } = request
    // Headers hold who we are, and are not for a log.
    if (this.level >= fromBodies && body !== undefined)
      this.tell(`Request Body: ${typeof body === 'string' ? body : new TextDecoder().decode(body)}`)
    const beganAt = performance.now()
    const after = (): string => `in ${Math.round(performance.now() - beganAt)} milliseconds`
    try {
      const response = await this.inner.send(request)
      this.tell(`${method} ${this.server}${path} ${response.status} ${after()}`)
      return response
    } catch (thrown) {
      this.tell(`${method} ${this.server}${path} failed ${after()}`)
      throw thrown
    }
  }

  openSocket(request: SocketRequest): Promise<MessageSocket> {
    this.tell(`GET ${this.server}${request.path} (WebSocket)`)
    return this.inner.openSocket(request)
  }

  close(): void {
    this.inner.close()
  }
}
