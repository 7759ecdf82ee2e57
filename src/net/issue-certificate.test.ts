// Certificates made by hand are read back with Node's own parser, which is OpenSSL.

import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import * as der from './der.js'
import { issueCertificate } from './issue-certificate.js'

const times = { notBefore: Date.UTC(2026, 0, 2, 3, 4, 5), notAfter: Date.UTC(2051, 11, 31, 23, 59, 59) }
const authority = { ...issueCertificate({ commonName: 'my ca', use: 'authority', ...times }), commonName: 'my ca' }
const hosts = ['localhost', 'a.b.svc', '127.0.0.1', '::1', '2001:db8::ff00:42:8329', '::ffff:10.1.2.3']

test('an authority signs itself', () => {
  const certificate = new X509Certificate(authority.cert)
  assert.equal(certificate.ca, true)
  assert.equal(certificate.subject, 'CN=my ca')
  assert.ok(certificate.verify(certificate.publicKey))
  assert.ok(certificate.checkPrivateKey(createPrivateKey(authority.key)))
})

test('a serving certificate: names, times, issuer', () => {
  const { cert, key } = issueCertificate({ commonName: 'me', hosts, use: 'server', ...times }, authority)
  const certificate = new X509Certificate(cert)
  const issuer = new X509Certificate(authority.cert)
  assert.equal(certificate.ca, false)
  assert.ok(certificate.checkIssued(issuer))
  assert.ok(certificate.verify(issuer.publicKey))
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key)))
  assert.equal(certificate.validFrom, 'Jan  2 03:04:05 2026 GMT')
  assert.equal(certificate.validTo, 'Dec 31 23:59:59 2051 GMT')
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  for (const host of hosts) assert.ok(certificate.checkHost(host) ?? certificate.checkIP(host), host)
  assert.equal(certificate.checkHost('other'), undefined)
})

test('a client certificate: user and groups', () => {
  const { cert } = issueCertificate({ commonName: 'jane', organizations: ['devs', 'readers'], use: 'client', ...times }, authority)
  assert.equal(new X509Certificate(cert).subject, 'O=devs\nO=readers\nCN=jane')
})

for (const row of [
  { name: 'short length', bytes: der.octets(Buffer.alloc(3)), hex: '0403000000' },
  { name: 'long length', bytes: der.octets(Buffer.alloc(300)).subarray(0, 4), hex: '0482012c' },
  { name: 'integer with its first bit set', bytes: der.integer(Buffer.from([0x80])), hex: '02020080' },
  { name: 'object id', bytes: der.objectId('1.2.840.113549'), hex: '06062a864886f70d' },
]) {
  test(`DER: ${row.name}`, () => assert.equal(row.bytes.toString('hex'), row.hex))
}
