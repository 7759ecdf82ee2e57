// Which headers of a request or an answer are passed on by somebody in between: all but those that are about one connection.

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

/** Names and values by turns. */
export type RawHeaders = string[]

/** `Trailer` is not among them: trailers are passed on. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** The names that one side lists as meant for the other side alone. */
function listedNames(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() !== 'connection') continue
    for (const name of raw[i + 1]?.split(',') ?? []) names.add(name.trim().toLowerCase())
  }
  return names
}

/** Those of a message that are for whoever is behind the next one. Without what `isLeftOut` says, by names in small letters. */
export function endToEndHeaders(raw: readonly string[], isLeftOut: (name: string) => boolean = () => false): RawHeaders {
  const listed = listedNames(raw)
  const kept: RawHeaders = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    if (lower[0] === ':' || hopByHop.has(lower) || listed.has(lower) || isLeftOut(lower)) continue
    kept.push(name, raw[i + 1] as string)
  }
  return kept
}

/** The headers of a request for another server: the host that was asked for stays, and the client's address is told. */
export function headersToForward(
  request: IncomingMessage | Http2ServerRequest,
  isLeftOut: (name: string) => boolean = () => false,
): RawHeaders {
  const cookies: string[] = []
  const forwarded: string[] = []
  const headers = endToEndHeaders(request.rawHeaders, (name) => name === 'expect' || name === 'host' || isLeftOut(name))
  const kept: RawHeaders = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lower = name.toLowerCase()
    // HTTP/2 cuts cookies in pieces; in HTTP/1.1 they are one header.
    if (lower === 'cookie') cookies.push(value)
    else if (lower === 'x-forwarded-for') forwarded.push(value)
    else kept.push(name, value)
  }
  const host = request.headers[':authority'] ?? request.headers.host
  if (typeof host === 'string' && host !== '') kept.push('Host', host)
  if (cookies.length > 0) kept.push('Cookie', cookies.join('; '))
  const address = request.socket.remoteAddress
  if (address !== undefined) kept.push('X-Forwarded-For', [...forwarded, address].join(', '))
  return kept
}

/** Puts one value in the place of all that there are. */
export function setHeader(headers: RawHeaders, name: string, value: string): void {
  removeHeader(headers, name)
  headers.push(name, value)
}

export function removeHeader(headers: RawHeaders, name: string): void {
  const lower = name.toLowerCase()
  for (let i = headers.length - 2; i >= 0; i -= 2) if (headers[i]?.toLowerCase() === lower) headers.splice(i, 2)
}

/** Node refuses to write a second one of these in HTTP/2. */
const singleInHttp2: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

/** Those that are lists, and mean the same in one line. */
const isList = (name: string): boolean => name === 'content-encoding' || name === 'content-language'

/** Makes headers such that HTTP/2 can carry them: of those that may be there once the first counts, and the lines of a list are joined. */
export function keepSingle(headers: RawHeaders): void {
  const places = new Map<string, number>()
  let kept = 0
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lower = name.toLowerCase()
    if (singleInHttp2.has(lower)) {
      const first = places.get(lower)
      if (first !== undefined) {
        if (isList(lower)) headers[first] += `, ${value}`
        continue
      }
      places.set(lower, kept + 1)
    }
    headers[kept++] = name
    headers[kept++] = value
  }
  headers.length = kept
}

export function headerOf(headers: readonly string[], name: string): string | undefined {
  const lower = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === lower) return headers[i + 1]
  return undefined
}
