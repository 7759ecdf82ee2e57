// Front proxy authentication: user, groups and extra from X-Remote-* headers, read only after the proxy's client certificate is verified.

import type { User } from '@cluster-apiserver/api/api/user.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { decodeHeader, unescapeKey } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { Authenticator } from './authenticate.js'
import { type CertificateTrust, subjectOf } from './client-certificates.js'
import { withAuthenticated } from './tokens/static-tokens.js'

interface ProxyOptions {
  readonly clock: Clock
  /** Allowed common names of the proxy certificate; empty: any. */
  readonly allowedNames: readonly string[]
  /** In order of precedence; case-insensitive. */
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

export function requestHeaders(trust: CertificateTrust, options: ProxyOptions): Authenticator {
  const { clock, allowedNames } = options
  const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase())
  const headerNames = {
    user: lower(options.usernameHeaders),
    groups: lower(options.groupHeaders),
    extras: lower(options.extraHeaderPrefixes),
  }
  return ({ certificate, rawHeaders }) => {
    if (certificate === undefined) return undefined
    const problem = trust.problemOf(certificate, clock.now())
    if (problem !== undefined) return { problems: [problem] }
    if (allowedNames.length > 0 && !allowedNames.includes(subjectOf(certificate.x509)?.commonName ?? '')) {
      return { problems: ['the common name of the client certificate is not in --requestheader-allowed-names'] }
    }
    const user = userFromHeaders(rawHeaders, headerNames)
    return user && { user }
  }
}

interface HeaderNames {
  readonly user: readonly string[]
  readonly groups: readonly string[]
  readonly extras: readonly string[]
}

/** Headers with the same name are not joined, because values may contain commas. */
function userFromHeaders(rawHeaders: readonly string[], headerNames: HeaderNames): User | undefined {
  const valuesOf = (wanted: string): readonly string[] =>
    rawHeaders.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase() === wanted ? [decodeHeader(rawHeaders[i + 1] ?? '')] : []))
  const name = headerNames.user.map((header) => valuesOf(header)[0] ?? '').find((value) => value !== '')
  if (name === undefined) return undefined
  const groups = headerNames.groups.flatMap(valuesOf).filter((group) => group !== '')
  return { name, uid: '', groups: withAuthenticated(groups), extra: extraFromHeaders(rawHeaders, headerNames.extras) }
}

function extraFromHeaders(rawHeaders: readonly string[], prefixes: readonly string[]): User['extra'] {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes) {
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const header = (rawHeaders[i] ?? '').toLowerCase()
      if (!header.startsWith(prefix)) continue
      const key = unescapeKey(header.slice(prefix.length))
      const values = extra.get(key) ?? []
      values.push(decodeHeader(rawHeaders[i + 1] ?? ''))
      extra.set(key, values)
    }
  }
  return Object.fromEntries(extra)
}
