// Issued certificates, parsed by Node.js and verified by the `openssl` command where it is installed.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as der from './der.js'
import { issueCertificate } from './issue-certificate.js'

const validity = { notBefore: Date.UTC(2026, 0, 2, 3, 4, 5), notAfter: Date.UTC(2051, 11, 31, 23, 59, 59) }
const authority = { ...issueCertificate({ commonName: 'my ca', use: 'authority', ...validity }), commonName: 'my ca' }
const hosts = ['localhost', 'a.b.svc', '127.0.0.1', '::1', '2001:db8::ff00:42:8329', '::ffff:10.1.2.3']

test('an authority is self-signed', () => {
  const certificate = new X509Certificate(authority.cert)
  assert.equal(certificate.ca, true)
  assert.equal(certificate.subject, 'CN=my ca')
  assert.ok(certificate.verify(certificate.publicKey))
  assert.ok(certificate.checkPrivateKey(createPrivateKey(authority.key)))
})

test('a serving certificate: names, times, issuer', () => {
  const { cert, key } = issueCertificate({ commonName: 'me', hosts, use: 'server', ...validity }, authority)
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
  const { cert } = issueCertificate({ commonName: 'jane', organizations: ['devs', 'readers'], use: 'client', ...validity }, authority)
  assert.equal(new X509Certificate(cert).subject, 'O=devs\nO=readers\nCN=jane')
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** Runs `openssl verify`; returns its status and output. */
function verify(cert: string, ...options: readonly string[]): { readonly status: number | null; readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  try {
    writeFileSync(join(folder, 'ca.pem'), authority.cert)
    writeFileSync(join(folder, 'cert.pem'), cert)
    const verificationTime = String(Date.UTC(2027, 0, 1) / 1000)
    const flags = ['-x509_strict', '-check_ss_sig', '-attime', verificationTime, '-CAfile', join(folder, 'ca.pem')]
    const { status, stdout, stderr } = spawnSync('openssl', ['verify', ...flags, ...options, join(folder, 'cert.pem')], {
      encoding: 'utf8',
    })
    return { status, output: stdout + stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('openssl verifies the issued certificates', { skip: hasOpenssl ? false : 'there is no openssl command' }, () => {
  const server = issueCertificate({ commonName: 'me', hosts, use: 'server', ...validity }, authority).cert
  const client = issueCertificate({ commonName: 'jane', organizations: ['devs'], use: 'client', ...validity }, authority).cert
  const expectations = [
    { cert: authority.cert, options: ['-purpose', 'any'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_hostname', 'a.b.svc'], status: 0 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_ip', '2001:db8::ff00:42:8329'], status: 0 },
    { cert: client, options: ['-purpose', 'sslclient'], status: 0 },
    { cert: client, options: ['-purpose', 'sslserver'], status: 2 },
    { cert: server, options: ['-purpose', 'sslserver', '-verify_hostname', 'other'], status: 2 },
    { cert: issueCertificate({ commonName: 'x', use: 'server', ...validity }).cert, options: [], status: 2 },
  ]
  for (const { cert, options, status } of expectations) {
    const result = verify(cert, ...options)
    assert.equal(result.status, status, `${options.join(' ')}: ${result.output}`)
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
