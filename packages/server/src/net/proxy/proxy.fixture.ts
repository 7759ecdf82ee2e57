// Fixture: a proxy on its own port, fake backends behind it, and clients in front of it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { after } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { type Listener, listen } from '../listen/listen.js'
import { issueCertificate } from '../tls/issue-certificate.js'
import { headersToForward } from './forwarded-headers.js'
import { type Forwarding, forward } from './reverse-proxy.js'
import { Upstream, type UpstreamLimits, type UpstreamOptions } from './upstream.js'

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
export const authority = { ...issueCertificate({ commonName: 'ca', use: 'authority', ...validity }), commonName: 'ca' }
export const certificate = issueCertificate(
  { commonName: 'server', hosts: ['localhost', '127.0.0.1'], use: 'server', ...validity },
  authority,
)

export const cleanups: (() => unknown)[] = []
after(async () => {
  for (const close of cleanups.reverse()) await close()
})

export async function startBackend(
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: URL; server: ReturnType<typeof createServer> }> {
  const server = createServer(serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), server }
}

export async function startTcp(serve: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>()
  const server: Server = createTcp((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    serve(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

interface Proxy {
  readonly port: number
  /** The outcome of each forwarded request: `done`, or an error message. */
  readonly outcomes: string[]
}

export async function startProxy(
  url: URL,
  options: { readonly tls?: UpstreamOptions; readonly limits?: Partial<UpstreamLimits>; readonly overrides?: Partial<Forwarding> } = {},
): Promise<Proxy> {
  const upstream = new Upstream(options.tls, options.limits)
  const outcomes: string[] = []
  const listener: Listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
    response.on('error', () => undefined)
    const begin: Forwarding['begin'] = ({ code, headers }) => {
      response.statusCode = code
      for (let i = 0; i < headers.length; i += 2) response.appendHeader(headers[i] as string, headers[i + 1] as string)
    }
    const forwarding = { request, response, upstream, url, path: request.url ?? '', headers: headersToForward(request), begin }
    forward({ ...forwarding, ...options.overrides }).then(
      () => outcomes.push('done'),
      (error: Error) => {
        outcomes.push(error.message)
        response.statusCode = 503
        response.end(error.message)
      },
    )
  })
  cleanups.push(async () => {
    await listener.close()
    upstream.close()
  })
  return { port: listener.port, outcomes }
}

interface Reply {
  readonly code: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export async function sendRequest(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: Buffer | undefined } = {},
): Promise<Reply> {
  const request = requestHttps({ host: '127.0.0.1', port, path, method, headers, ca: authority.cert, agent: false })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { code: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString('latin1') }
}

export async function dial(port: number): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

export const upgradeRequest = (path = '/', extra = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${extra}\r\n`

export async function readUntil(socket: Socket, expected: string): Promise<string> {
  let text = ''
  for await (const chunk of chunksOf(socket)) {
    text += chunk.toString('latin1')
    if (text.includes(expected)) return text
  }
  throw new Error(`ended with ${JSON.stringify(text)}`)
}

async function* chunksOf(socket: Socket): AsyncGenerator<Buffer> {
  const waiting: (Buffer | undefined)[] = []
  let wake = (): void => undefined
  const data = (chunk: Buffer): void => {
    waiting.push(chunk)
    wake()
  }
  const end = (): void => {
    waiting.push(undefined)
    wake()
  }
  socket.on('data', data)
  socket.on('close', end)
  try {
    for (;;) {
      while (waiting.length > 0) {
        const next = waiting.shift()
        if (next === undefined) return
        yield next
      }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    socket.off('data', data)
    socket.off('close', end)
  }
}
