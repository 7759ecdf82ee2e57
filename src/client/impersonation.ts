// Acting as somebody else: who, and the headers that say so.

import { encodeHeader } from '../base/header-text.js'

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): { readonly [name: string]: string | readonly string[] } {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': encodeHeader(user) }
  if (uid !== undefined && uid !== '') headers['impersonate-uid'] = encodeHeader(uid)
  if (groups !== undefined && groups.length > 0) headers['impersonate-group'] = groups.map(encodeHeader)
  for (const [key, values] of Object.entries(extra ?? {})) headers[`impersonate-extra-${escapeKey(key)}`] = values.map(encodeHeader)
  return headers
}

/** Names of headers take few characters; the others are written as in a URL, and so is the sign for that. */
const escapeKey = (key: string): string =>
  [...new TextEncoder().encode(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[!#$&'*+.^_`|~\w-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
