// `proxy`: serves the API over plain HTTP on a port or Unix socket with the user's credentials, and static files (--www).

import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { type Duplex, pipeline } from 'node:stream'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { StatusError } from '@cluster-apiserver/client/errors.js'
import { RE2JS } from 're2js'
import { writeDrained } from '../../command-line/backpressure.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { durationMs, type FlagTable, UsageError } from '../../command-line/flags.js'
import type { Session } from '../../command-line/session.js'
import { impersonatedClient } from './impersonated-client.js'

const maxBodyBytes = 16 << 20

const forwardedHeaders = [
  'audit-id',
  'cache-control',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'etag',
  'last-modified',
  'location',
  'referrer-policy',
  'retry-after',
  'vary',
  'warning',
  'x-content-type-options',
  'x-frame-options',
]

export const filterFlags = {
  'accept-hosts': {
    kind: 'text',
    initial: '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
    help: 'regular expressions of accepted Host headers',
  },
  'accept-paths': { kind: 'text', initial: '^.*', help: 'regular expressions of accepted paths' },
  'reject-paths': {
    kind: 'text',
    initial: '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
    help: 'regular expressions of rejected paths; override --accept-paths',
  },
  'reject-methods': { kind: 'text', initial: '^$', help: 'regular expressions of rejected methods, such as POST,PUT,PATCH' },
  'disable-filter': { kind: 'switch', help: 'accept all requests: web pages in local browsers can use your credentials' },
} as const satisfies FlagTable

export const command = defineCommand({
  usage: 'proxy [--port=8001 | --unix-socket=PATH] [--address=127.0.0.1] [--api-prefix=/] [--www=FOLDER] [flags]',
  examples: ['proxy --port=0', 'proxy --unix-socket=/tmp/api.sock', 'proxy --www=pages --www-prefix=/shop/ --api-prefix=/server/'],
  flags: {
    port: { kind: 'number', short: 'p', initial: '8001', help: 'port; 0: any free port' },
    address: { kind: 'text', initial: '127.0.0.1', help: 'address to listen on' },
    'unix-socket': { kind: 'text', short: 'u', help: 'Unix socket to listen on' },
    'api-prefix': { kind: 'text', initial: '/', help: 'path prefix of the API' },
    'append-server-path': { kind: 'switch', help: 'accepted for compatibility; always on' },
    www: { kind: 'text', short: 'w', help: 'folder of static files to serve' },
    'www-prefix': { kind: 'text', short: 'P', initial: '/static/', help: 'path prefix of the static files' },
    keepalive: { kind: 'text', initial: '0', help: 'TCP keep-alive interval, such as 30s; 0: off' },
    ...filterFlags,
  },
  takesNoArguments: true,
  run: async ({ flags, session, io, signal }) => {
    const prefix = `/${(flags['api-prefix'] ?? '/').replaceAll(/^\/+|\/+$/g, '')}`.replace(/\/$/, '')
    const filesPrefix = `/${(flags['www-prefix'] ?? '').replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/')
    const isAllowed = makeFilter(flags)
    const keepAliveMs = durationMs('keepalive', flags.keepalive ?? '0')
    const { www, 'unix-socket': socket } = flags
    if (flags['disable-filter'] && socket === undefined)
      io.err('Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious\n')
    const server = createServer((request, response) => {
      const { method = '', headers, url = '/' } = request
      const path = url.split('?')[0] as string
      if (www !== undefined && path.startsWith(filesPrefix)) serveFile(www, path.slice(filesPrefix.length), response)
      else if (!path.startsWith(`${prefix}/`)) response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n')
      else if (isAllowed({ method, path: path.slice(prefix.length), host: headers.host ?? '' }))
        void forward(session, request, response, prefix)
      else response.writeHead(403, { 'content-type': 'text/plain' }).end('Forbidden\n')
    })
    const upgradedSockets = new Set<Duplex>()
    server.on('upgrade', (request: IncomingMessage, downstream: Duplex, head: Buffer) => {
      const { method = '', headers, url = '/' } = request
      const path = url.split('?')[0] as string
      if (!isForwardableUpgrade(request)) {
        downstream.unshift(withoutUpgrade(request, head))
        server.emit('connection', downstream)
        return
      }
      upgradedSockets.add(downstream.on('error', () => downstream.destroy()).on('close', () => upgradedSockets.delete(downstream)))
      if (!path.startsWith(`${prefix}/`)) rejectUpgrade(downstream, 404, '404 page not found\n')
      else if (!isAllowed({ method, path: path.slice(prefix.length), host: headers.host ?? '', origin: headers.origin }))
        rejectUpgrade(downstream, 403, 'Forbidden\n')
      else void forwardUpgrade(session, { request, downstream, head }, url.slice(prefix.length))
    })
    if (keepAliveMs > 0) server.on('connection', (connection) => connection.setKeepAlive(true, keepAliveMs))
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new CommandError(`cannot listen: ${error.message}`)))
      if (socket === undefined) server.listen(flags.port ?? 8001, flags.address ?? '127.0.0.1', resolve)
      else server.listen(socket, resolve)
    })
    const bound = server.address()
    io.out(`Starting to serve on ${bound === null || typeof bound === 'string' ? bound : `${bound.address}:${bound.port}`}\n`)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    server.close()
    server.closeAllConnections()
    for (const downstream of upgradedSockets) downstream.destroy()
    return 0
  },
})

export async function forward(session: Session, request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void> {
  const controller = new AbortController()
  response.on('close', () => controller.abort())
  try {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of request) {
      length += (chunk as Buffer).length
      if (length > maxBodyBytes) throw new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: 'the body is too large' })
      chunks.push(chunk as Buffer)
    }
    const reply = await impersonatedClient(session.client, request).requester.send(
      {
        method: request.method ?? 'GET',
        path: (request.url ?? '/').slice(prefix.length),
        // Never Protobuf: clients of the proxy expect JSON.
        accept: textOnly(request.headers.accept ?? 'application/json'),
        ...(length === 0 ? {} : { body: Buffer.concat(chunks), contentType: request.headers['content-type'] ?? 'application/json' }),
      },
      controller.signal,
    )
    for (const name of forwardedHeaders) if (reply.header(name) !== '') response.setHeader(name, reply.header(name))
    response.writeHead(reply.status, { 'content-type': reply.header('content-type') || 'application/json' })
    // A watch may have no events for long, and the client waits for the headers.
    response.flushHeaders()
    for await (const chunk of reply.chunks()) if (!(await writeDrained(response, chunk))) break
    response.end()
  } catch (thrown) {
    if (response.headersSent || controller.signal.aborted) {
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
  const mediaTypes = accept.split(',').filter((mediaType) => !mediaType.includes('protobuf'))
  return mediaTypes.length === 0 ? 'application/json' : mediaTypes.join(',')
}

const contentTypes: { readonly [ending: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
}

function serveFile(folder: string, path: string, response: ServerResponse): void {
  const file = fileAt(folder, path)
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (file === undefined || stat === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
    return
  }
  if (!stat.isDirectory()) {
    sendFile(file, stat.size, response)
    return
  }
  const index = join(file, 'index.html')
  const page = statSync(index, { throwIfNoEntry: false })
  if (page?.isFile() === true && fileAt(folder, join(path, 'index.html')) !== undefined) sendFile(index, page.size, response)
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(directoryListing(file))
}

/** Returns undefined if the path leaves the folder by `..` or symbolic links. */
function fileAt(folder: string, path: string): string | undefined {
  try {
    const root = realpathSync(resolve(folder))
    const file = realpathSync(join(root, decodeURIComponent(path)))
    return file === root || file.startsWith(root.endsWith(sep) ? root : `${root}${sep}`) ? file : undefined
  } catch {
    return undefined
  }
}

function sendFile(file: string, size: number, response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': contentTypes[extname(file).toLowerCase()] ?? 'application/octet-stream',
    'content-length': size,
  })
  pipeline(createReadStream(file), response, (error) => {
    if (error) response.destroy()
  })
}

function directoryListing(folder: string): string {
  const names = readdirSync(folder, { withFileTypes: true }).map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
  const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
  return `<pre>\n${sortTexts(names)
    .map((name) => `<a href="${encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23')}">${escapeHtml(name)}</a>\n`)
    .join('')}</pre>\n`
}

interface FilterFlags {
  readonly 'accept-hosts': string | undefined
  readonly 'accept-paths': string | undefined
  readonly 'reject-paths': string | undefined
  readonly 'reject-methods': string | undefined
  readonly 'disable-filter': boolean
}

interface ProxiedRequest {
  readonly method: string
  readonly path: string
  readonly host: string
  /** Checked for WebSockets: browsers let every page open one to localhost and read from it. */
  readonly origin?: string | undefined
}

export function makeFilter(flags: FilterFlags): (request: ProxiedRequest) => boolean {
  if (flags['disable-filter']) return () => true
  const [acceptHosts, acceptPaths, rejectPaths, rejectMethods] = (
    ['accept-hosts', 'accept-paths', 'reject-paths', 'reject-methods'] as const
  ).map((name) => readPatterns(name, flags[name] ?? '')) as [Patterns, Patterns, Patterns, Patterns]
  return ({ method, path, host, origin }) => {
    if (origin !== undefined && !(URL.canParse(origin) && matchesAny(acceptHosts, new URL(origin).hostname))) return false
    const decodedPath = decodePath(path)
    // A path that cannot be decoded might match reject-paths.
    if (decodedPath === undefined) return false
    const paths = [decodedPath, normalizePath(decodedPath)]
    if (paths.some((candidate) => matchesAny(rejectPaths, candidate)) || matchesAny(rejectMethods, method)) return false
    return paths.every((candidate) => matchesAny(acceptPaths, candidate)) && matchesAny(acceptHosts, host.replace(/:\d+$/, ''))
  }
}

/** RE2: linear time, and the syntax of kubectl. */
type Patterns = readonly RE2JS[]

const matchesAny = (patterns: Patterns, text: string): boolean => patterns.some((pattern) => pattern.matcher(text).find())

function readPatterns(flag: string, text: string): Patterns {
  return text
    .split(',')
    .filter((pattern) => pattern !== '')
    .map((pattern) => {
      try {
        return RE2JS.compile(pattern)
      } catch {
        throw new UsageError(`invalid argument "${text}" for "--${flag}" flag: ${pattern} is not a regular expression`)
      }
    })
}

/** Percent-encoding must not bypass the filter. */
function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Servers may treat `//api` and `/x/../api` as `/api`. */
function normalizePath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}${path.endsWith('/') && segments.length > 0 ? '/' : ''}`
}

interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly downstream: Duplex
  readonly head: Buffer
}

/** Headers of the upgrade that are forwarded; credentials come from the proxy. */
const isProtocolHeader = (name: string): boolean =>
  name === 'upgrade' || name === 'connection' || name === 'x-stream-protocol-version' || name.startsWith('sec-websocket-')

/** False for `Upgrade: h2c`, which Java's HttpClient sends with ordinary requests, and for requests with a body. */
function isForwardableUpgrade({ headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return !hasBody && /^(?:websocket|spdy\/.*)$/i.test(headers.upgrade ?? '')
}

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}

const maxResponseLength = 1024 * 1024

async function forwardUpgrade(session: Session, { request, downstream, head }: UpgradeRequest, path: string): Promise<void> {
  const controller = new AbortController()
  const onClose = (): void => controller.abort()
  downstream.once('close', onClose)
  try {
    const { headers, credential } = await impersonatedClient(session.client, request).requester.identify(controller.signal)
    const upstream = await session.transport.upgrade({
      method: request.method ?? 'GET',
      path,
      headers: { ...protocolHeaders(request), ...headers },
      credential,
      signal: controller.signal,
    })
    if (upstream.socket === undefined)
      return rejectUpgrade(downstream, upstream.message.statusCode ?? 502, await textOf(upstream.message), contentTypeOf(upstream.message))
    downstream.off('close', onClose)
    downstream.write(`HTTP/1.1 101 Switching Protocols\r\n${headText(upstream.message)}\r\n`)
    if (upstream.head !== undefined && upstream.head.length > 0) downstream.write(upstream.head)
    if (head.length > 0) upstream.socket.write(head)
    pipeline(downstream, upstream.socket, downstream, () => {
      downstream.destroy()
      upstream.socket?.destroy()
    })
  } catch (thrown) {
    if (!controller.signal.aborted) rejectUpgrade(downstream, 502, `${errorMessage(thrown)}\n`)
  }
}

function rejectUpgrade(downstream: Duplex, status: number, text: string, contentType = 'text/plain'): void {
  const body = Buffer.from(text)
  downstream.end(
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status} \r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`),
      body,
    ]),
  )
}

function protocolHeaders({ rawHeaders }: IncomingMessage): Record<string, string[]> {
  const headers: Record<string, string[]> = {}
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (isProtocolHeader(name)) headers[name] = [...(headers[name] ?? []), rawHeaders[i + 1] as string]
  }
  return headers
}

function headText({ rawHeaders }: IncomingMessage): string {
  let text = ''
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  return text
}

const contentTypeOf = ({ headers }: IncomingMessage): string => headers['content-type'] ?? 'text/plain'

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of message.setEncoding('utf8')) {
    text += part
    if (text.length > maxResponseLength) break
  }
  return text
}
