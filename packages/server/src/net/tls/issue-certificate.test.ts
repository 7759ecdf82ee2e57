// Certificates made by hand are read back with Node's own parser, and verified by the `openssl` command where there is one.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** What the command says of a certificate: its status, and its words for a failure. */
function verify(cert: string, ...options: readonly string[]): { readonly status: number | null; readonly said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  try {
    writeFileSync(join(folder, 'ca.pem'), authority.cert)
    writeFileSync(join(folder, 'cert.pem'), cert)
    const moment = String(Date.UTC(2027, 0, 1) / 1000)
    const flags = ['-x509_strict', '-check_ss_sig', '-attime', moment, '-CAfile', join(folder, 'ca.pem')]
    const { status, stdout, stderr } = spawnSync('openssl', ['verify', ...flags, ...options, join(folder, 'cert.pem')], {
      encoding: 'utf8',
    })
    return { status, said: stdout + stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('openssl verifies what is issued', { skip: hasOpenssl ? false : 'there is no openssl command' }, () => {
  const server = issueCertificate({ commonName: 'me', hosts, use: 'server', ...times }, authority).cert
  const client = issueCertificate({ commonName: 'jane', organizations: ['devs'], use: 'client', ...times }, authority).cert
  const expectations = [
    { cert: authority.cert, options: ['-purpose', 'any'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_hostname', 'a.b.svc'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_ip', '2001:db8::ff00:42:8329'], status: 0 },
    { cert: client, options: ['-purpose', 'sslclient'], status: 0 },
    { cert: client, options: ['-purpose', 'sslserver'], status: 2 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_hostname', 'other'], status: 2 },
    { cert: issueCertificate({ commonName: 'x', use: 'server', ...times }).cert, options: [], status: 2 },
  ]
  for (const { cert, options, status } of expectations) {
    const verdict = verify(cert, ...options)
    assert.equal(verdict.status, status, `${options.join(' ')}: ${verdict.said}`)
  }
})

for (const row of [
  { name: 'short length', bytes: der.octets(Buffer.alloc(3)), hex: '0403000000' },
  { name: 'long length', bytes: der.octets(Buffer.alloc(300)).subarray(0, 4), hex: '0482012c' },
  { name: 'integer with its first bit set', bytes: der.integer(Buffer.from([0x80])), hex: '02020080' },
  { name: 'object id', bytes: der.objectId('1.2.840.113549'), hex: '06062a864886f70d' },
]) {
  test(`DER: ${row.name}`, () => assert.equal(row.bytes.toString('hex'), row.hex))
}
