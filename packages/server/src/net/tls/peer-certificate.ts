// The client certificate of a connection, read once per connection.

import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'

export interface PeerCertificate {
  readonly x509: X509Certificate
  /** The chain of issuers that the client sent. */
  readonly issuers: readonly X509Certificate[]
  /** Verified in the handshake, with the authorities of that time. */
  readonly isVerified: boolean
  /** Milliseconds since 1970. */
  readonly validFromMs: number
  readonly validToMs: number
}

/** Maximum length of the chain. */
const maxIssuers = 8

const cache = new WeakMap<object, PeerCertificate | 'none'>()

/** `connection`: the cache key, an object that lives as long as the connection. */
export function peerCertificateOf(connection: object, socket: TLSSocket): PeerCertificate | undefined {
  const found = cache.get(connection)
  if (found !== undefined) return found === 'none' ? undefined : found
  const peer = readPeer(socket)
  cache.set(connection, peer ?? 'none')
  return peer
}

function readPeer(socket: TLSSocket): PeerCertificate | undefined {
  const x509 = socket.getPeerX509Certificate?.()
  if (x509 === undefined) return undefined
  return {
    x509,
    issuers: issuersOf(x509),
    // Also true for a resumed session without a certificate, which was excluded above.
    isVerified: socket.authorized,
    validFromMs: Date.parse(x509.validFrom),
    validToMs: Date.parse(x509.validTo),
  }
}

/** The chain of issuers that the peer sent, up to and including a self-signed root. */
export function issuersOf(leaf: X509Certificate): readonly X509Certificate[] {
  const issuers: X509Certificate[] = []
  let current = leaf
  while (issuers.length < maxIssuers) {
    const next: X509Certificate | undefined = current.issuerCertificate
    // A self-signed certificate ends the chain.
    if (next === undefined || next.fingerprint256 === current.fingerprint256) break
    issuers.push(next)
    current = next
  }
  return issuers
}
