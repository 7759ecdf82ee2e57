// Acting as somebody else: who, and the headers that say so.

import { encodeHeader } from '../base/header-text.js'
import { refuseUnknownOptions } from '../base/known-options.js'
import { impersonationNames } from './option-names.js'

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

/**
 * Throws where headers would not say who is meant: an empty one says nobody, and then the caller would act with all rights of his own; and what
 * stands around a value is lost on the way.
 */
export function checkImpersonation(whom: Impersonation): void {
  refuseUnknownOptions('to act as somebody else', whom, impersonationNames)
  const { user, uid = '', groups = [] } = whom
  if (user.trim() === '') throw new TypeError('to act as somebody else takes the name of a user')
  if (groups.some((group) => group.trim() === '')) throw new TypeError('to act as somebody else takes names of groups, none of them empty')
  for (const name of [user, uid, ...groups])
    if (name !== name.trim()) throw new TypeError(`nobody can be named ${JSON.stringify(name)} in a header: spaces around a name are lost`)
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
