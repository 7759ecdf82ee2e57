// Request log of -v: method, URL, status and duration from level 6, request bodies from level 8.

import type {
  MessageSocket,
  SocketRequest,
  Transport,
  TransportRequest,
  TransportResponse,
} from '@cluster-apiserver/client/transport/transport.js'

const bodyLogLevel = 8

export class LoggingTransport implements Transport {
  private readonly inner: Transport
  private readonly server: string
  private readonly level: number
  private readonly log: (line: string) => void

  constructor(inner: Transport, options: { readonly server: string; readonly level: number; readonly log: (line: string) => void }) {
    this.inner = inner
    this.server = options.server.replace(/\/$/, '')
    this.level = options.level
    this.log = options.log
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { method, path, body } = request
    // Headers are not logged: they may contain credentials.
    if (this.level >= bodyLogLevel && body !== undefined)
      this.log(`Request Body: ${typeof body === 'string' ? body : new TextDecoder().decode(body)}`)
    const startedAt = performance.now()
    const duration = (): string => `in ${Math.round(performance.now() - startedAt)} milliseconds`
    try {
      const response = await this.inner.send(request)
      this.log(`${method} ${this.server}${path} ${response.status} ${duration()}`)
      return response
    } catch (thrown) {
      this.log(`${method} ${this.server}${path} failed ${duration()}`)
      throw thrown
    }
  }

  openSocket(request: SocketRequest): Promise<MessageSocket> {
    this.log(`GET ${this.server}${request.path} (WebSocket)`)
    return this.inner.openSocket(request)
  }

  close(): void {
    this.inner.close()
  }
}
