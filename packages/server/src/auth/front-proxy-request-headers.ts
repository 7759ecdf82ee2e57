// An authenticating proxy: users as its headers name them. No header is read before its certificate was found to be a proxy's.

import type { User } from '../api/user.js'
import type { Clock } from '../base/clock.js'
import { decodeHeader } from '../base/header-text.js'
import type { Authenticator } from './authenticate.js'
import { type CertificateTrust, subjectOf } from './certificate-trust.js'
import { withAuthenticated } from './token-list.js'

export interface ProxyOptions {
  readonly clock: Clock
  /** Common names of proxies; empty: any. */
  readonly allowedNames: readonly string[]
  /** In the order in which they are looked at; in any case of letters. */
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

export function requestHeaders(trust: CertificateTrust, options: ProxyOptions): Authenticator {
  const { clock, allowedNames } = options
  const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase())
  const names = {
    user: lower(options.usernameHeaders),
    groups: lower(options.groupHeaders),
    extras: lower(options.extraHeaderPrefixes),
  }
  return ({ certificate, rawHeaders }) => {
    if (certificate === undefined) return undefined
    const problem = trust.problemOf(certificate, clock.now())
    if (problem !== undefined) return { problems: [problem] }
    if (allowedNames.length > 0 && !allowedNames.includes(subjectOf(certificate.x509)?.commonName ?? '')) {
      return { problems: ['the common name of the client certificate is not that of a proxy'] }
    }
    const user = userIn(rawHeaders, names)
    return user && { user }
  }
}

interface HeaderNames {
  readonly user: readonly string[]
  readonly groups: readonly string[]
  readonly extras: readonly string[]
}

/** Headers as they came: those of the same name are not joined, because a value may hold a comma. */
function userIn(rawHeaders: readonly string[], names: HeaderNames): User | undefined {
  const valuesOf = (wanted: string): readonly string[] =>
    rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === wanted ? [decodeHeader(rawHeaders[i + 1] ?? '')] : []))
  const name = names.user.map((header) => valuesOf(header)[0] ?? '').find((value) => value !== '')
  if (name === undefined) return undefined
  const groups = names.groups.flatMap(valuesOf).filter((group) => group !== '')
  return { name, uid: '', groups: withAuthenticated(groups), extra: extraIn(rawHeaders, names.extras) }
}

function extraIn(rawHeaders: readonly string[], prefixes: readonly string[]): User['extra'] {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes) {
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const header = (rawHeaders[i] ?? '').toLowerCase()
      if (!header.startsWith(prefix)) continue
      const key = unescaped(header.slice(prefix.length))
      const values = extra.get(key) ?? []
      values.push(decodeHeader(rawHeaders[i + 1] ?? ''))
      extra.set(key, values)
    }
  }
  return Object.fromEntries(extra)
}

/** A key that is not escaped as it should be stands for itself. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
