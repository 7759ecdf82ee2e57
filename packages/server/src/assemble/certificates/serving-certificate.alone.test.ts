// Certificates and credentials of a data folder: made once, used again, renewed when they no longer serve.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { readConfigText } from '../client/config/config-entries.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { type CertificateNeeds, caFile, ensureServingCertificate, pkiFolder, servingHosts } from './certificates.js'
import {
  clientConfigOf,
  ensureAdminCredential,
  renderClientConfiguration,
  urlOf,
  writeClientConfiguration,
} from './client-configuration.js'

let dataDir: string
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'certificates-')), 'data')
})
afterEach(() => rmSync(join(dataDir, '..'), { recursive: true }))

const day = 86_400_000
const now = Date.now()
const needs = (changes: Partial<CertificateNeeds> = {}): CertificateNeeds => ({
  folder: pkiFolder(dataDir),
  hosts: ['localhost', '127.0.0.1'],
  commonName: 'me',
  now,
  ...changes,
})

test('made at the first start, used again at the second', async () => {
  const first = await ensureServingCertificate(needs())
  assert.deepEqual(await ensureServingCertificate(needs()), first)
  assert.equal(readFileSync(caFile(pkiFolder(dataDir)), 'utf8'), first.caPem)
  const [certificate, authority] = [new X509Certificate(first.cert), new X509Certificate(first.caPem)]
  assert.ok(certificate.verify(authority.publicKey))
  assert.ok(certificate.checkIssued(authority))
  for (const name of readdirSync(pkiFolder(dataDir))) assert.equal(statSync(join(pkiFolder(dataDir), name)).mode & 0o777, 0o600, name)
})

for (const row of [
  { name: 'another address', changes: { hosts: ['localhost', '127.0.0.1', '10.1.2.3'] }, isSameAuthority: true },
  { name: 'soon to expire', changes: { now: now + 780 * day }, isSameAuthority: true },
  { name: 'the authority, too', changes: { now: now + 3640 * day }, isSameAuthority: false },
]) {
  test(`renewed: ${row.name}`, async () => {
    const first = await ensureServingCertificate(needs())
    const second = await ensureServingCertificate(needs(row.changes))
    assert.notEqual(second.cert, first.cert)
    assert.equal(second.caPem === first.caPem, row.isSameAuthority)
    assert.ok(new X509Certificate(second.cert).verify(new X509Certificate(second.caPem).publicKey))
    assert.deepEqual(await ensureServingCertificate(needs(row.changes)), second)
  })
}

test('fewer names than the certificate has need no new one', async () => {
  const first = await ensureServingCertificate(needs())
  assert.deepEqual(await ensureServingCertificate(needs({ hosts: ['localhost'] })), first)
})

test('files that are no pair are left for the operator to decide on', async () => {
  await ensureServingCertificate(needs())
  writeFileSync(join(pkiFolder(dataDir), 'ca.key'), '')
  await assert.rejects(ensureServingCertificate(needs()), /ca\.crt and .*ca\.key are not a certificate and its key; remove both/)
})

test('without a folder nothing is written', async () => {
  const { cert, caPem } = await ensureServingCertificate(needs({ folder: undefined }))
  assert.ok(new X509Certificate(cert).verify(new X509Certificate(caPem).publicKey))
})

test('names of a serving certificate', () => {
  const hosts = servingHosts(identityOf('kubernetes'), '10.9.8.7')
  for (const host of ['localhost', '127.0.0.1', '::1', '10.9.8.7', 'kubernetes.default.svc']) assert.ok(hosts.includes(host), host)
  assert.ok(!servingHosts(identityOf('cluster'), '0.0.0.0').includes('0.0.0.0'))
})

test('the token of the administrator stays the same', () => {
  const { token, user } = ensureAdminCredential(dataDir)
  assert.match(token, /^[\w-]{43}$/)
  assert.deepEqual(user, { name: 'admin', uid: '', groups: ['system:masters'], extra: {} })
  assert.equal(ensureAdminCredential(dataDir).token, token)
  assert.notEqual(ensureAdminCredential(undefined).token, token)
})

test('the client configuration is what clients read', () => {
  const credential = ensureAdminCredential(undefined)
  const input = { identity: identityOf('kubernetes'), url: 'https://127.0.0.1:6443', caPem: 'pem', credential }
  const text = renderClientConfiguration(input)
  assert.deepEqual(clientConfigOf(input), readConfigText(text, 'the text'))
  assert.deepEqual(readYaml(text).value, {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'kubernetes', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': 'cGVt' } }],
    users: [{ name: 'admin', user: { token: credential.token } }],
    contexts: [{ name: 'admin@kubernetes', context: { cluster: 'kubernetes', user: 'admin' } }],
    'current-context': 'admin@kubernetes',
    preferences: {},
  })
  const path = writeClientConfiguration(dataDir, text)
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  chmodSync(path, 0o400)
  assert.equal(writeClientConfiguration(dataDir, text), path)
})

for (const row of [
  { address: '127.0.0.1', url: 'https://127.0.0.1:1' },
  { address: '0.0.0.0', url: 'https://127.0.0.1:1' },
  { address: '::', url: 'https://[::1]:1' },
  { address: 'fd00::1', url: 'https://[fd00::1]:1' },
]) {
  test(`address of a server on ${row.address}`, () => assert.equal(urlOf(row.address, 1), row.url))
}
