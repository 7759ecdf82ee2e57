// Authorities whose certificates are believed. TLS has verified a certificate against all authorities that the server knows; which of them it was,
// and whether it is believed still after their file was changed, is found out here, by signatures.

import { type KeyObject, X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../net/peer-certificate.js'

interface Authority {
  readonly x509: X509Certificate
  readonly key: KeyObject
}

export class CertificateTrust {
  #pem: string
  #authorities: readonly Authority[]
  /** What was decided with the authorities of now. */
  #decided = new WeakMap<PeerCertificate, boolean>()

  /** PEM certificates. Throws when one of them is broken. */
  constructor(pem: string) {
    this.#pem = pem
    this.#authorities = authoritiesOf(pem)
  }

  get pem(): string {
    return this.#pem
  }

  /** From now on, also for connections that are open. */
  replace(pem: string): void {
    this.#authorities = authoritiesOf(pem)
    this.#pem = pem
    this.#decided = new WeakMap()
  }

  /** Why the certificate is not believed; undefined: it is. */
  problemOf(peer: PeerCertificate, now: number): string | undefined {
    if (!peer.isVerified) return 'the client certificate could not be verified'
    if (now < peer.validFromMs || now > peer.validToMs) return 'the client certificate has expired or is not yet valid'
    let isTrusted = this.#decided.get(peer)
    if (isTrusted === undefined) {
      isTrusted = this.#leadsHere(peer)
      this.#decided.set(peer, isTrusted)
    }
    return isTrusted ? undefined : 'the client certificate was signed by an unknown authority'
  }

  #leadsHere({ x509, issuers }: PeerCertificate): boolean {
    let current = x509
    for (const issuer of [...issuers, undefined]) {
      if (this.#authorities.some(({ x509: authority, key }) => current.checkIssued(authority) && current.verify(key))) return true
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

export interface Subject {
  /** Empty: it has none, or one that is no name. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** As it was signed, and not as it would be printed: a line break in a name is part of it. */
export function subjectOf(x509: X509Certificate): Subject | undefined {
  const { CN, O } = x509.toLegacyObject().subject as { readonly CN?: string | readonly string[]; readonly O?: string | readonly string[] }
  const commonName = [CN ?? ''].flat().at(-1) ?? ''
  const organizations = [O ?? []].flat()
  return [commonName, ...organizations].some((name) => unprintable.test(name)) ? undefined : { commonName, organizations }
}

/** A name that looks like another one in a log or a table is none. */
const unprintable = /\p{Cc}/u
