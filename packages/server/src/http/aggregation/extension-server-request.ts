// A request as a server behind an API service gets it: in the name of its user, for whom this server vouches, and where it was allowed.

import { encodeHeader } from '../base/header-text.js'
import { type RawHeaders, setHeader } from '../net/forwarded-headers.js'
import { UpstreamError } from '../net/upstream-error.js'
import type { Exchange } from './exchange.js'

/**
 * Path and query to ask for; undefined where the path cannot be meant. What was allowed is the decoded path, and so it is what is asked for:
 * nobody behind this server reads another one out of it.
 */
export function pathToForward({ info: { path, query } }: Pick<Exchange, 'info'>): string | undefined {
  const tail = query === '' ? '' : `?${query}`
  const decoded = path.includes('%') ? decode(path) : path
  if (decoded === undefined || decoded.split('/').some((word) => word === '.' || word === '..')) return undefined
  return `${path.includes('%') ? encodePath(decoded) : path}${tail}`
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined // not valid percent-encoding
  }
}

const encodePath = (path: string): string =>
  encodeURIComponent(path).replace(/%(?:2F|24|26|2B|2C|3A|3B|3D|40)/g, (escaped) => decodeURIComponent(escaped))

export interface Vouching {
  readonly exchange: Pick<Exchange, 'user' | 'auditId' | 'info'>
  /** Of the other server. */
  readonly host: string
  /** Whether a header, in small letters, would be believed to say who the user is. */
  readonly isVouching: (name: string) => boolean
}

/** Changes headers that are without the client's credentials: nobody but this server says who the client is. */
export function extensionHeaders(headers: RawHeaders, { exchange, host, isVouching }: Vouching): void {
  const { user, auditId, info } = exchange
  for (let i = headers.length - 2; i >= 0; i -= 2) if (isVouching((headers[i] as string).toLowerCase())) headers.splice(i, 2)
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

const plainInName = /[!#$&'*+.^_`|~0-9A-Za-z-]/

/** Names of headers have fewer characters than names of attributes. */
const escapeKey = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte)
    return plainInName.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
