// Client certificates: the common name is the user, each organization a group.

import type { Clock } from '../base/clock.js'
import type { Histogram } from '../base/histogram.js'
import type { PeerCertificate } from '../net/peer-certificate.js'
import type { Authenticator, Found } from './authenticate.js'
import { type CertificateTrust, subjectOf } from './certificate-trust.js'
import { withAuthenticated } from './token-list.js'

export interface CertificateOptions {
  readonly clock: Clock
  /** How much longer certificates that were shown are in force, in seconds. */
  readonly remaining?: Histogram
}

export function clientCertificates(trust: CertificateTrust, { clock, remaining }: CertificateOptions): Authenticator {
  const users = new WeakMap<PeerCertificate, { readonly found: Found }>()
  return ({ certificate }) => {
    if (certificate === undefined) return undefined
    const now = clock.now()
    remaining?.add((certificate.validToMs - now) / 1000)
    const problem = trust.problemOf(certificate, now)
    if (problem !== undefined) return { problems: [problem] }
    const known = users.get(certificate) ?? { found: userOf(certificate) }
    users.set(certificate, known)
    return known.found
  }
}

function userOf({ x509 }: PeerCertificate): Found {
  const subject = subjectOf(x509)
  if (subject === undefined) return { problems: ['the client certificate has a name that cannot be printed'] }
  const { commonName, organizations } = subject
  // Whoever has no name is nobody in particular.
  if (commonName === '') return undefined
  return { user: { name: commonName, uid: '', groups: withAuthenticated(organizations), extra: {} } }
}
