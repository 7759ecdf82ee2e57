// An authority that the operator named: its certificates are signed in the name that stands in its own.

import { X509Certificate } from 'node:crypto'
import * as der from '../../net/der.js'
import type { KeyPair, SigningAuthority } from '../../net/issue-certificate.js'
import { DerError, derMembers, readDer } from '../../resources/certificates/der.js'

const versionTag = 0xa0

/** Throws where the certificate cannot be read. */
export function readAuthority({ cert, key }: KeyPair): SigningAuthority {
  const [certificate] = readDer(new X509Certificate(cert).raw)
  const [body] = derMembers(certificate)
  const parts = derMembers(body)
  // Serial number, algorithm, issuer, validity, subject; in front of them a version that may be left out.
  const subject = parts[parts[0]?.tag === versionTag ? 5 : 4]
  if (subject === undefined) throw new DerError('a certificate has no subject')
  return { key, name: der.sequence(Buffer.from(subject.content)) }
}
