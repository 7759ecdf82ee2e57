// The request to an extension API server: the authorized path, and the user in X-Remote-* headers.

import { encodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import { type RawHeaders, setHeader } from '../../net/proxy/forwarded-headers.js'
import { UpstreamError } from '../../net/proxy/upstream-error.js'
import type { Exchange } from '../pipeline/exchange.js'

/** Path and query to forward; undefined for an invalid path. Encodes the decoded path, because that was authorized. */
export function pathToForward({ info: { path, query } }: Pick<Exchange, 'info'>): string | undefined {
  const tail = query === '' ? '' : `?${query}`
  const decoded = path.includes('%') ? decode(path) : path
  if (decoded === undefined || decoded.split('/').some((segment) => segment === '.' || segment === '..')) return undefined
  return `${path.includes('%') ? encodePath(decoded) : path}${tail}`
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    // Invalid percent-encoding.
    return undefined
  }
}

const encodePath = (path: string): string =>
  encodeURIComponent(path).replace(/%(?:2F|24|26|2B|2C|3A|3B|3D|40)/g, (escaped) => decodeURIComponent(escaped))

interface IdentityHeaders {
  readonly exchange: Pick<Exchange, 'user' | 'auditId' | 'info'>
  readonly host: string
  /** True for headers (lower case) that extension servers trust for the user's identity. */
  readonly isIdentityHeader: (name: string) => boolean
}

/** Sets the headers that identify the user, and removes those that the client sent. */
export function extensionHeaders(headers: RawHeaders, { exchange, host, isIdentityHeader }: IdentityHeaders): void {
  const { user, auditId, info } = exchange
  for (let i = headers.length - 2; i >= 0; i -= 2) if (isIdentityHeader((headers[i] as string).toLowerCase())) headers.splice(i, 2)
  setHeader(headers, 'Host', host)
  setHeader(headers, 'X-Forwarded-Uri', info.path)
  setHeader(headers, 'X-Forwarded-Host', host)
  setHeader(headers, 'X-Forwarded-Proto', 'https')
  setHeader(headers, 'Audit-Id', auditId)
  headers.push('X-Remote-User', headerValue('X-Remote-User', user.name))
  for (const group of user.groups) headers.push('X-Remote-Group', headerValue('X-Remote-Group', group))
  for (const [key, values] of Object.entries(user.extra)) {
    const name = `X-Remote-Extra-${escapeKey(key)}`
    for (const value of values) headers.push(name, headerValue(name, value))
  }
}

function headerValue(name: string, text: string): string {
  const value = encodeHeader(text)
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) throw new UpstreamError(`net/http: invalid header field value for "${name}"`)
  }
  return value
}

const tokenCharacter = /[!#$&'*+.^_`|~0-9A-Za-z-]/

/** Escapes characters that header names do not allow. */
const escapeKey = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte)
    return tokenCharacter.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
