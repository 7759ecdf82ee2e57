// Fixture: a self-signed certificate of version 1, as old tools issue for a CA.

import { generateKeyPairSync, sign } from 'node:crypto'
import * as der from './der.js'
import type { KeyPair } from './issue-certificate.js'

export function version1Authority(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'))
  const name = der.sequence(der.set(der.sequence(der.objectId('2.5.4.3'), der.text('old'))))
  const validity = der.sequence(der.time(Date.now() - 1000), der.time(Date.now() + 3_600_000))
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const body = der.sequence(der.integer(Buffer.from([1])), algorithm, name, validity, name, spki)
  const bytes = der.sequence(body, algorithm, der.bits(sign('sha256', body, privateKey)))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}
