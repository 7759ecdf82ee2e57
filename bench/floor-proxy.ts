// Floor (least possible cost) of a proxy: a bare Node.js process that accepts TLS connections and forwards their bytes.

import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectTls, createServer, type TLSSocket } from 'node:tls'

export interface FloorProxyStart {
  readonly cert: string
  readonly key: string
  readonly host: string
  readonly port: number
  /** Client certificate for a TLS target; undefined: plain TCP. */
  readonly client?: { readonly cert: string; readonly key: string }
}

function main({ cert, key, host, port, client }: FloorProxyStart): void {
  const open = (): Socket =>
    client === undefined ? connect(port, host) : connectTls({ host, port, rejectUnauthorized: false, cert: client.cert, key: client.key })
  const server = createServer({ cert, key, noDelay: true }, (socket: TLSSocket) => {
    const target = open()
    const closeBoth = (): void => {
      socket.destroy()
      target.destroy()
    }
    for (const side of [socket, target]) side.on('error', closeBoth).on('close', closeBoth)
    socket.pipe(target)
    target.pipe(socket)
  })
  process.on('disconnect', () => process.exit(0))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

main(JSON.parse(process.argv[2] ?? '{}') as FloorProxyStart)
