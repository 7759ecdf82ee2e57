// The headers that a proxy forwards: all but hop-by-hop headers, made valid for the protocol of the receiver.

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

export type RawHeaders = string[]

/** Without `Trailer`: trailers are forwarded. */
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

/** Header names that the `Connection` header lists, which are hop-by-hop as well. */
function listedNames(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() !== 'connection') continue
    for (const name of raw[i + 1]?.split(',') ?? []) names.add(name.trim().toLowerCase())
  }
  return names
}

/** End-to-end headers, without those of `isExcluded`, which gets names in lower case. */
export function endToEndHeaders(raw: readonly string[], isExcluded: (name: string) => boolean = () => false): RawHeaders {
  const listed = listedNames(raw)
  const kept: RawHeaders = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const lower = name.toLowerCase()
    if (lower[0] === ':' || hopByHop.has(lower) || listed.has(lower) || isExcluded(lower)) continue
    kept.push(name, raw[i + 1] as string)
  }
  return kept
}

/** The headers of a forwarded request: keeps Host, and adds the client's address to X-Forwarded-For. */
export function headersToForward(
  request: IncomingMessage | Http2ServerRequest,
  isExcluded: (name: string) => boolean = () => false,
): RawHeaders {
  const cookies: string[] = []
  const forwarded: string[] = []
  const headers = endToEndHeaders(request.rawHeaders, (name) => name === 'expect' || name === 'host' || isExcluded(name))
  const kept: RawHeaders = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lower = name.toLowerCase()
    // HTTP/2 splits cookies into several headers, which HTTP/1.1 does not allow.
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

/** Replaces all values of the header. */
export function setHeader(headers: RawHeaders, name: string, value: string): void {
  removeHeader(headers, name)
  headers.push(name, value)
}

export function removeHeader(headers: RawHeaders, name: string): void {
  const lower = name.toLowerCase()
  for (let i = headers.length - 2; i >= 0; i -= 2) if (headers[i]?.toLowerCase() === lower) headers.splice(i, 2)
}

/** Headers of which Node.js refuses a second one in HTTP/2. */
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

/** Values of these may be joined by commas. */
const isList = (name: string): boolean => name === 'content-encoding' || name === 'content-language'

/** Makes headers valid for HTTP/2: keeps the first of duplicate headers, or joins their values. */
export function dropDuplicateHeaders(headers: RawHeaders): void {
  const offsets = new Map<string, number>()
  let kept = 0
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lower = name.toLowerCase()
    if (singleInHttp2.has(lower)) {
      const first = offsets.get(lower)
      if (first !== undefined) {
        if (isList(lower)) headers[first] += `, ${value}`
        continue
      }
      offsets.set(lower, kept + 1)
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
