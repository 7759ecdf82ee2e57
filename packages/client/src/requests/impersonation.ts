// Impersonation: user, groups, uid and extra as `Impersonate-*` headers.

import { encodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: { readonly [key: string]: readonly string[] }
}

const impersonationNames: OptionNames<Impersonation> = { user: true, uid: true, groups: true, extra: true }

/** Throws for an empty user, which would not impersonate at all, and for values that a header would trim. */
export function checkImpersonation(impersonation: Impersonation): void {
  refuseUnknownOptions('impersonation', impersonation, impersonationNames)
  const { user, uid = '', groups = [] } = impersonation
  if (user.trim() === '') throw new TypeError('impersonation: the user is empty')
  if (groups.some((group) => group.trim() === '')) throw new TypeError('impersonation: a group is empty')
  for (const name of [user, uid, ...groups])
    if (name !== name.trim())
      throw new TypeError(`impersonation: ${JSON.stringify(name)} begins or ends with white space, which headers lose`)
}

export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): { readonly [name: string]: string | readonly string[] } {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': encodeHeader(user) }
  if (uid !== undefined && uid !== '') headers['impersonate-uid'] = encodeHeader(uid)
  if (groups !== undefined && groups.length > 0) headers['impersonate-group'] = groups.map(encodeHeader)
  for (const [key, values] of Object.entries(extra ?? {})) headers[`impersonate-extra-${escapeKey(key)}`] = values.map(encodeHeader)
  return headers
}

/** Percent-encodes `%` and all characters that header names cannot have. */
const escapeKey = (key: string): string =>
  [...new TextEncoder().encode(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[!#$&'*+.^_`|~\w-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
