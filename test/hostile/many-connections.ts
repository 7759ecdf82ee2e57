// A client process with very many connections, which close at once when it is killed. Prints "ready" when all are open.

import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import type { Access } from '../kit/api-client.js'
import { secureContextFor } from '../kit/secure-context.js'

export type ConnectionKind = 'idle' | 'watching' | 'writing'

export interface ManyConnections {
  readonly access: Access
  readonly count: number
  readonly kind: ConnectionKind
  readonly protocol: 'http/1.1' | 'h2'
}

const options: ManyConnections = JSON.parse(process.argv[2] ?? '')
const { access, count, kind, protocol } = options
const { hostname, port } = new URL(access.url)
const path = kind === 'idle' ? '/livez' : `/api/v1/namespaces/default/configmaps${kind === 'watching' ? '?watch=true' : ''}`
const method = kind === 'writing' ? 'POST' : 'GET'
const authorization = `Bearer ${access.token}`
/** Time for the first part of a body to arrive; there is no response to wait for. */
const writtenMs = 50

function open(): Promise<void> {
  return new Promise((resolve) => {
    const resolveWhenWritten = (): void => void (kind === 'writing' ? setTimeout(resolve, writtenMs) : undefined)
    const socket = connect({ host: hostname, port: Number(port), ...secureContextFor(access.ca), ALPNProtocols: [protocol] }, () => {
      if (protocol === 'h2') {
        const session = connectHttp2(access.url, { createConnection: () => socket }).on('error', () => undefined)
        const stream = session.request({ ':path': path, ':method': method, authorization, 'content-type': 'application/json' })
        stream.on('error', () => undefined).on('response', () => resolve())
        stream.resume()
        if (kind === 'writing') stream.write('{')
        else stream.end()
      } else {
        const body = kind === 'writing' ? 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{' : '\r\n'
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${body}`)
        socket.on('data', () => resolve())
      }
      resolveWhenWritten()
    })
    socket.on('error', () => resolve())
  })
}

for (let opened = 0; opened < count; opened += 20) await Promise.all(Array.from({ length: 20 }, open))
process.stdout.write('ready\n')
setInterval(() => undefined, 60_000)
