// The floor of proxies: a bare Node process that takes encrypted connections and passes their bytes on, and nothing else.

import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectTls, createServer, type TLSSocket } from 'node:tls'

export interface FloorProxyStart {
  readonly cert: string
  readonly key: string
  readonly host: string
  readonly port: number
  /** What is shown to an encrypted target; left out: it is not encrypted. */
  readonly client?: { readonly cert: string; readonly key: string }
}

function main({ cert, key, host, port, client }: FloorProxyStart): void {
  const open = (): Socket =>
    client === undefined ? connect(port, host) : connectTls({ host, port, rejectUnauthorized: false, cert: client.cert, key: client.key })
  const server = createServer({ cert, key, noDelay: true }, (socket: TLSSocket) => {
    const target = open()
    const cut = (): void => {
      socket.destroy()
      target.destroy()
    }
    for (const side of [socket, target]) side.on('error', cut).on('close', cut)
    socket.pipe(target)
    target.pipe(socket)
  })
  process.on('disconnect', () => process.exit(0))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

main(JSON.parse(process.argv[2] ?? '{}') as FloorProxyStart)
