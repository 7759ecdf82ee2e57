// The certificate that a client showed when it connected: read once for a connection, whatever comes over it.

import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'

export interface PeerCertificate {
  readonly x509: X509Certificate
  /** Those that signed it, one after the other, as far as they are known. */
  readonly issuers: readonly X509Certificate[]
  /** Whether TLS found it to be in force, for clients, and signed by an authority that was trusted at the time. */
  readonly isVerified: boolean
  /** Milliseconds since 1970. */
  readonly validFromMs: number
  readonly validToMs: number
}

/** Longer chains are nobody's. */
const mostIssuers = 8

const known = new WeakMap<object, PeerCertificate | 'none'>()

/** `connection`: a value that lives as long as the connection. */
export function peerCertificateOf(connection: object, socket: TLSSocket): PeerCertificate | undefined {
  const found = known.get(connection)
  if (found !== undefined) return found === 'none' ? undefined : found
  const read = readPeer(socket)
  known.set(connection, read ?? 'none')
  return read
}

function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  const x509 = socket.getPeerX509Certificate?.()
  if (x509 === undefined) return undefined
  return {
    x509,
    issuers: issuersOf(x509),
    // A session that is taken up again without a certificate counts as authorized, too: that there is one was seen above.
    isVerified: socket.authorized,
    validFromMs: Date.parse(x509.validFrom),
    validToMs: Date.parse(x509.validTo),
  }
}

function issuersOf(leaf: X509Certificate): readonly X509Certificate[] {
  const issuers: X509Certificate[] = []
  let current = leaf
  while (issuers.length < mostIssuers) {
    const next: X509Certificate | undefined = current.issuerCertificate
    // One that signed itself is its own issuer.
    if (next === undefined || next.fingerprint256 === current.fingerprint256) break
    issuers.push(next)
    current = next
  }
  return issuers
}
