// Lets programs of this machine talk to the server in our name, over plain HTTP on a local port.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { StatusError } from '../../client/errors.js'
import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import { durationMs } from '../flags.js'
import { filterFlags, makeFilter } from '../proxy-filter.js'
import { isForPassing, passUpgrade, refuse, withoutUpgrade } from '../proxy-upgrade.js'
import type { Session } from '../session.js'
import { serveFile } from '../static-files.js'
import { writeOn } from '../write-on.js'

const largestBody = 16 << 20

/** What programs may want to know of an answer, beside its body. */
const passedHeaders = ['audit-id', 'cache-control', 'etag', 'last-modified', 'location', 'retry-after', 'vary', 'warning']

export const command = defineCommand({
  usage: 'proxy [--port=8001 | --unix-socket=PATH] [--address=127.0.0.1] [--api-prefix=/] [--www=FOLDER] [flags]',
  about: 'let programs of this machine talk to the server in our name',
  examples: ['proxy --port=0', 'proxy --unix-socket=/tmp/api.sock', 'proxy --www=pages --www-prefix=/shop/ --api-prefix=/server/'],
  flags: {
    port: { kind: 'number', short: 'p', initial: '8001', help: 'where to listen; 0: any free one' },
    address: { kind: 'text', initial: '127.0.0.1', help: 'and on which address' },
    'unix-socket': { kind: 'text', short: 'u', help: 'listen on this socket instead' },
    'api-prefix': { kind: 'text', initial: '/', help: 'below which path the API is' },
    'append-server-path': { kind: 'switch', help: 'it always is: the path in the address of the server goes before each path' },
    www: { kind: 'text', short: 'w', help: 'a folder with pages that are served, too' },
    'www-prefix': { kind: 'text', short: 'P', initial: '/static/', help: 'below which path the pages are' },
    keepalive: { kind: 'text', initial: '0', help: 'how often connections are seen to be alive, such as 30s; 0: never' },
    ...filterFlags,
  },
  takesNoWords: true,
  run: async ({ flags, session, io, signal }) => {
    const prefix = `/${(flags['api-prefix'] ?? '/').replaceAll(/^\/+|\/+$/g, '')}`.replace(/\/$/, '')
    const pages = `/${(flags['www-prefix'] ?? '').replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/')
    const isPassed = makeFilter(flags)
    const keepAliveMs = durationMs('keepalive', flags.keepalive ?? '0')
    const { www, 'unix-socket': socket } = flags
    if (flags['disable-filter'] && socket === undefined)
      io.err('Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious\n')
    const server = createServer((request, response) => {
      const { method = '', headers, url = '/' } = request
      const path = url.split('?')[0] as string
      if (www !== undefined && path.startsWith(pages)) serveFile(www, path.slice(pages.length), response)
      else if (!path.startsWith(`${prefix}/`)) response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n')
      else if (isPassed({ method, path: path.slice(prefix.length), host: headers.host ?? '' }))
        void pass(session, request, response, prefix)
      else response.writeHead(403, { 'content-type': 'text/plain' }).end('Forbidden\n')
    })
    const joined = new Set<Duplex>()
    server.on('upgrade', (request: IncomingMessage, near: Duplex, head: Buffer) => {
      const { method = '', headers, url = '/' } = request
      const path = url.split('?')[0] as string
      if (!isForPassing(request)) {
        near.unshift(withoutUpgrade(request, head))
        server.emit('connection', near)
        return
      }
      joined.add(near.on('error', () => near.destroy()).on('close', () => joined.delete(near)))
      if (!path.startsWith(`${prefix}/`)) refuse(near, 404, '404 page not found\n')
      else if (!isPassed({ method, path: path.slice(prefix.length), host: headers.host ?? '', origin: headers.origin }))
        refuse(near, 403, 'Forbidden\n')
      else void passUpgrade(session, { request, near, head }, url.slice(prefix.length))
    })
    if (keepAliveMs > 0) server.on('connection', (one) => one.setKeepAlive(true, keepAliveMs))
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new Failure(`cannot listen: ${error.message}`)))
      if (socket === undefined) server.listen(flags.port ?? 8001, flags.address ?? '127.0.0.1', resolve)
      else server.listen(socket, resolve)
    })
    const bound = server.address()
    io.out(`Starting to serve on ${bound === null || typeof bound === 'string' ? bound : `${bound.address}:${bound.port}`}\n`)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    server.close()
    server.closeAllConnections()
    for (const near of joined) near.destroy()
    return 0
  },
})

async function pass(session: Session, request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void> {
  const leaving = new AbortController()
  response.on('close', () => leaving.abort())
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of request) {
      length += (chunk as Buffer).length
      if (length > largestBody) throw new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: 'the body is too large' })
      chunks.push(chunk as Buffer)
    }
    const answer = await session.client.requester.send(
      {
        method: request.method ?? 'GET',
        path: (request.url ?? '/').slice(prefix.length),
        // For programs that read text; what a browser shows is JSON.
        accept: textOnly(request.headers.accept ?? 'application/json'),
        ...(length === 0 ? {} : { body: Buffer.concat(chunks), contentType: request.headers['content-type'] ?? 'application/json' }),
      },
      leaving.signal,
    )
    for (const name of passedHeaders) if (answer.header(name) !== '') response.setHeader(name, answer.header(name))
    response.writeHead(answer.status, { 'content-type': answer.header('content-type') || 'application/json' })
    // A watch may say nothing for long, and whoever began it waits for its head.
    response.flushHeaders()
    for await (const chunk of answer.chunks()) if (!(await writeOn(response, chunk))) break
    response.end()
  } catch (thrown) {
    if (response.headersSent || leaving.signal.aborted) {
      response.destroy()
      return
    }
    const status =
      thrown instanceof StatusError
        ? thrown.status
        : { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: String(thrown), code: 502 }
    response
      .writeHead(thrown instanceof StatusError ? thrown.code : 502, { 'content-type': 'application/json' })
      .end(JSON.stringify(status))
  }
}

function textOnly(accept: string): string {
  const kept = accept.split(',').filter((one) => !one.includes('protobuf'))
  return kept.length === 0 ? 'application/json' : kept.join(',')
}
