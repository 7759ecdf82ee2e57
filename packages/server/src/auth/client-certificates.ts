// Client certificates: maps the subject to user and groups. TLS accepts every configured CA, so the issuing CA is checked here again.

import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import type { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { PeerCertificate } from '../net/tls/peer-certificate.js'
import type { AuthenticationResult, Authenticator } from './authenticate.js'
import { withAuthenticated } from './tokens/static-tokens.js'

interface Authority {
  readonly x509: X509Certificate
  readonly key: KeyObject
}

export class CertificateTrust {
  #pem: string
  /** Parsed for the first client certificate. */
  #authorities: readonly Authority[] | undefined
  #trustByCertificate = new WeakMap<PeerCertificate, boolean>()

  constructor(pem: string) {
    this.#pem = pem
  }

  get pem(): string {
    return this.#pem
  }

  /** Takes effect at once, also for open connections. */
  replace(pem: string): void {
    this.#authorities = undefined
    this.#pem = pem
    this.#trustByCertificate = new WeakMap()
  }

  problemOf(peer: PeerCertificate, now: number): string | undefined {
    if (!peer.isVerified) return 'the client certificate could not be verified'
    if (now < peer.validFromMs || now > peer.validToMs) return 'the client certificate has expired or is not yet valid'
    let isTrusted = this.#trustByCertificate.get(peer)
    if (isTrusted === undefined) {
      isTrusted = this.#chainsToAuthority(peer)
      this.#trustByCertificate.set(peer, isTrusted)
    }
    return isTrusted ? undefined : 'the client certificate was signed by an unknown authority'
  }

  #chainsToAuthority({ x509, issuers }: PeerCertificate): boolean {
    this.#authorities ??= authoritiesOf(this.#pem)
    const authorities = this.#authorities
    let current = x509
    for (const issuer of [...issuers, undefined]) {
      if (authorities.some(({ x509: authority, key }) => current.checkIssued(authority) && current.verify(key))) return true
      if (issuer === undefined || !issuer.ca || !current.checkIssued(issuer) || !current.verify(issuer.publicKey)) return false
      current = issuer
    }
    return false
  }
}

const authoritiesOf = (pem: string): readonly Authority[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)].map(([block]) => {
    const x509 = new X509Certificate(block)
    return { x509, key: x509.publicKey }
  })

interface Subject {
  /** Empty if the subject has no common name. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Reads the subject as signed, not as printed, so that a line break stays part of a name. Undefined if a name has control characters. */
export function subjectOf(x509: X509Certificate): Subject | undefined {
  const { CN, O } = x509.toLegacyObject().subject as { readonly CN?: string | readonly string[]; readonly O?: string | readonly string[] }
  const commonName = [CN ?? ''].flat().at(-1) ?? ''
  const organizations = [O ?? []].flat()
  return [commonName, ...organizations].some((name) => controlCharacter.test(name)) ? undefined : { commonName, organizations }
}

/** Control characters could make a name look like another one in logs and tables. */
const controlCharacter = /\p{Cc}/u

interface CertificateOptions {
  readonly clock: Clock
  /** Remaining lifetime of presented certificates, in seconds. */
  readonly remaining?: Histogram
}

export function clientCertificates(trust: CertificateTrust, { clock, remaining }: CertificateOptions): Authenticator {
  const resultCache = new WeakMap<PeerCertificate, { readonly result: AuthenticationResult }>()
  return ({ certificate }) => {
    if (certificate === undefined) return undefined
    const now = clock.now()
    remaining?.add((certificate.validToMs - now) / 1000)
    const problem = trust.problemOf(certificate, now)
    if (problem !== undefined) return { problems: [problem] }
    const cached = resultCache.get(certificate) ?? { result: userOf(certificate) }
    resultCache.set(certificate, cached)
    return cached.result
  }
}

function userOf({ x509 }: PeerCertificate): AuthenticationResult {
  const subject = subjectOf(x509)
  if (subject === undefined) return { problems: ['the subject of the client certificate contains control characters'] }
  const { commonName, organizations } = subject
  if (commonName === '') return undefined
  return { user: { name: commonName, uid: '', groups: withAuthenticated(organizations), extra: {} } }
}
