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

export function headerOf(headers: readonly string[], name: string): string | undefined {
  const lower = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === lower) return headers[i + 1]
  return undefined
}
