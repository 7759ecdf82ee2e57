// Generated certificates and the admin kubeconfig: created once, reused, renewed.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { readConfigText } from '@cluster-apiserver/client/config/kubeconfig.js'
import { clientConfigOf, ensureAdminCredential, renderAdminKubeconfig, serverUrl, writeAdminKubeconfig } from '../admin-kubeconfig.js'
import { type CertificateOptions, caFile, ensureServingCertificate, pkiFolder, servingHosts } from './serving-certificate.js'

let dataDir: string
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'certificates-')), 'data')
})
afterEach(() => rmSync(join(dataDir, '..'), { recursive: true }))

const dayMs = 86_400_000
const now = Date.now()
const options = (changes: Partial<CertificateOptions> = {}): CertificateOptions => ({
  folder: pkiFolder(dataDir),
  hosts: ['localhost', '127.0.0.1'],
  commonName: 'me',
  now,
  ...changes,
})

test('the certificate is generated at the first start and reused at the second', async () => {
  const first = await ensureServingCertificate(options())
  assert.deepEqual(await ensureServingCertificate(options()), first)
  assert.equal(readFileSync(caFile(pkiFolder(dataDir)), 'utf8'), first.caPem)
  const [certificate, authority] = [new X509Certificate(first.cert), new X509Certificate(first.caPem)]
  assert.ok(certificate.verify(authority.publicKey))
  assert.ok(certificate.checkIssued(authority))
  for (const name of readdirSync(pkiFolder(dataDir))) assert.equal(statSync(join(pkiFolder(dataDir), name)).mode & 0o777, 0o600, name)
})

for (const row of [
  { name: 'another address', changes: { hosts: ['localhost', '127.0.0.1', '10.1.2.3'] }, isSameAuthority: true },
  { name: 'it expires soon', changes: { now: now + 780 * dayMs }, isSameAuthority: true },
  { name: 'the CA expires soon', changes: { now: now + 3640 * dayMs }, isSameAuthority: false },
]) {
  test(`the certificate is renewed: ${row.name}`, async () => {
    const first = await ensureServingCertificate(options())
    const second = await ensureServingCertificate(options(row.changes))
    assert.notEqual(second.cert, first.cert)
    assert.equal(second.caPem === first.caPem, row.isSameAuthority)
    assert.ok(new X509Certificate(second.cert).verify(new X509Certificate(second.caPem).publicKey))
    assert.deepEqual(await ensureServingCertificate(options(row.changes)), second)
  })
}

test('a process that never renews uses the files as they are', async () => {
  const first = await ensureServingCertificate(options())
  const changes = { hosts: ['10.1.2.3'], now: now + 3640 * dayMs, neverRenews: true }
  assert.deepEqual(await ensureServingCertificate(options(changes)), first)
})

test('a certificate with more names is reused', async () => {
  const first = await ensureServingCertificate(options())
  assert.deepEqual(await ensureServingCertificate(options({ hosts: ['localhost'] })), first)
})

test('a mismatched pair is an error', async () => {
  await ensureServingCertificate(options())
  writeFileSync(join(pkiFolder(dataDir), 'ca.key'), '')
  await assert.rejects(ensureServingCertificate(options()), /ca\.crt and .*ca\.key are not a certificate and its key; remove both/)
})

test('without a folder no file is written', async () => {
  const { cert, caPem } = await ensureServingCertificate(options({ folder: undefined }))
  assert.ok(new X509Certificate(cert).verify(new X509Certificate(caPem).publicKey))
})

test('names of a serving certificate', () => {
  const hosts = servingHosts(identityOf('kubernetes'), '10.9.8.7')
  for (const host of ['localhost', '127.0.0.1', '::1', '10.9.8.7', 'kubernetes.default.svc']) assert.ok(hosts.includes(host), host)
  assert.ok(!servingHosts(identityOf('cluster'), '0.0.0.0').includes('0.0.0.0'))
})

test('the admin token is reused', () => {
  const { token, user } = ensureAdminCredential(dataDir)
  assert.match(token, /^[\w-]{43}$/)
  assert.deepEqual(user, { name: 'admin', uid: '', groups: ['system:masters'], extra: {} })
  assert.equal(ensureAdminCredential(dataDir).token, token)
  assert.notEqual(ensureAdminCredential(undefined).token, token)
})

test('no admin token begins with a hyphen', () => {
  for (let i = 0; i < 2000; i++) assert.doesNotMatch(ensureAdminCredential(undefined).token, /^-/)
})

test('renders the admin kubeconfig', () => {
  const credential = ensureAdminCredential(undefined)
  const input = { identity: identityOf('kubernetes'), url: 'https://127.0.0.1:6443', caPem: 'pem', credential }
  const text = renderAdminKubeconfig(input)
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
  const path = writeAdminKubeconfig(dataDir, text)
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  chmodSync(path, 0o400)
  assert.equal(writeAdminKubeconfig(dataDir, text), path)
})

for (const row of [
  { address: '127.0.0.1', url: 'https://127.0.0.1:1' },
  { address: '0.0.0.0', url: 'https://127.0.0.1:1' },
  { address: '::', url: 'https://[::1]:1' },
  { address: 'fd00::1', url: 'https://[fd00::1]:1' },
]) {
  test(`URL of a server on ${row.address}`, () => assert.equal(serverUrl(row.address, 1), row.url))
}
