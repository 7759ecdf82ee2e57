// TLS handshakes of one port, or of a server and its forks, which share the TLS context: creating one takes milliseconds.

import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls'

interface TlsPort {
  onSecure(socket: TLSSocket): void
  onError(): void
}

export class TlsHandshakes {
  readonly #server: Server
  readonly #ports = new Map<number, TlsPort>()

  constructor(options: TlsOptions) {
    this.#server = createServer(options)
    this.#server.on('secureConnection', (socket) => {
      const port = this.#portOf(socket)
      if (port === undefined) socket.destroy()
      else port.onSecure(socket)
    })
    this.#server.on('tlsClientError', (_error, socket) => {
      socket.destroy()
      this.#portOf(socket)?.onError()
    })
  }

  /** Returns the function that removes the port. */
  add(port: number, handlers: TlsPort): () => void {
    this.#ports.set(port, handlers)
    return () => void this.#ports.delete(port)
  }

  begin(socket: Socket): void {
    this.#server.emit('connection', socket)
  }

  setContext(options: TlsOptions): void {
    this.#server.setSecureContext(options)
  }

  /** A socket that is closed already has no port. */
  #portOf({ localPort }: TLSSocket): TlsPort | undefined {
    const [only] = this.#ports.size === 1 ? this.#ports.values() : []
    return only ?? this.#ports.get(localPort ?? 0)
  }
}
