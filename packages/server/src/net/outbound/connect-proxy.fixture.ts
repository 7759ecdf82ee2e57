// Fixture: an HTTP CONNECT proxy over TCP, TLS or a Unix socket.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

export class ConnectProxy {
  /** Addresses of CONNECT requests. */
  readonly requested: string[] = []
  /** Replaces the response. */
  respond: ((socket: Socket, address: string) => void) | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(tls: TlsOptions | undefined) {
    const serve = (socket: Socket): void => this.#serve(socket)
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  }

  static async start(options: { readonly path?: string; readonly tls?: TlsOptions } = {}): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(options.tls)
    const listening = new Promise<void>((resolve) => proxy.#server.once('listening', resolve))
    if (options.path === undefined) proxy.#server.listen(0, '127.0.0.1')
    else proxy.#server.listen(options.path)
    await listening
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #serve(socket: Socket): void {
    this.#track(socket)
    let head = ''
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', read)
      const address = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1] ?? ''
      this.requested.push(address)
      if (this.respond !== undefined) this.respond(socket, address)
      else this.#join(socket, new URL(`http://${address}`))
    }
    socket.on('data', read)
  }

  #join(socket: Socket, { hostname, port }: URL): void {
    const upstream = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80 }, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    this.#track(upstream)
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
  }
}
