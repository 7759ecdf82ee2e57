// Reading the kubeconfig of a webhook.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import { readConnection, readCredentials } from './webhook-kubeconfig.js'

const folder = mkdtempSync(join(tmpdir(), 'connection-'))
after(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'ca.crt'), 'CA')
writeFileSync(join(folder, 'token'), 'from-file\n')

const read = (text: string) => readConnection(join(folder, 'config.yaml'), text)

test('uses the current context', () => {
  const connection = read(`
clusters:
- {name: other, cluster: {server: "https://other"}}
- {name: here, cluster: {server: "https://here/path", certificate-authority: ca.crt, tls-server-name: hook}}
users:
- {name: me, user: {token: secret}}
contexts:
- {name: c, context: {cluster: here, user: me}}
current-context: c
`)
  const { authorization, ...rest } = connection
  assert.deepEqual(rest, { url: 'https://here/path', insecure: false, ca: 'CA', serverName: 'hook' })
  assert.equal(authorization?.(), 'Bearer secret')
})

test('without a context the only cluster and user are used', () => {
  const pem = Buffer.from('PEM').toString('base64')
  const connection = read(`
clusters: [{name: a, cluster: {server: "https://a", insecure-skip-tls-verify: true, certificate-authority-data: ${pem}}}]
users: [{name: u, user: {client-certificate-data: ${pem}, client-key-data: ${pem}, username: ann, password: pw}}]
`)
  assert.deepEqual([connection.insecure, connection.ca, connection.clientPair?.()], [true, 'PEM', { cert: 'PEM', key: 'PEM' }])
  assert.equal(connection.authorization?.(), `Basic ${Buffer.from('ann:pw').toString('base64')}`)
  const byFile = read('clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: u, user: {tokenFile: token}}]')
  assert.equal(byFile.authorization?.(), 'Bearer from-file')
})

test('certificate and token files are reloaded; a mismatched pair is ignored', () => {
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
  const [old, renewed] = ['old', 'renewed'].map((commonName) => issueCertificate({ commonName, use: 'client', ...validity }))
  assert.ok(old !== undefined && renewed !== undefined)
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  const user = '{client-certificate: client.crt, client-key: client.key, tokenFile: renewed-token}'
  const text = `clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: u, user: ${user}}]`
  write('client.crt', old.cert)
  write('client.key', old.key)
  write('renewed-token', 'old')
  const [connection, connectionDuringRenewal] = [read(text), read(text)]
  write('client.crt', renewed.cert)
  assert.equal(connectionDuringRenewal.clientPair?.().cert, old.cert)
  write('client.key', renewed.key)
  write('renewed-token', 'new\n')
  assert.deepEqual(connection.clientPair?.(), { cert: renewed.cert, key: renewed.key })
  assert.equal(connection.clientPair?.(), connection.clientPair?.())
  assert.equal(connection.authorization?.(), 'Bearer new')
})

const invalidConfigs: readonly { readonly text: string; readonly message: RegExp }[] = [
  { text: 'clusters: []', message: /has no server/ },
  { text: 'clusters: [{name: a, cluster: {server: "https://a"}}]\ncurrent-context: x', message: /no context "x"/ },
  {
    text: 'clusters: [{name: a, cluster: {server: "https://a"}}]\ncontexts: [{name: x, context: {cluster: b}}]\ncurrent-context: x',
    message: /no cluster "b"/,
  },
  {
    text: 'clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: u, user: {exec: {command: x}}}]',
    message: /"exec" is not supported/,
  },
  { text: 'clusters: [{name: a, cluster: {server: "https://a", proxy-url: "http://p"}}]', message: /"proxy-url" is not supported/ },
  { text: 'clusters: [{name: a, cluster: {server: "https://a", certificate-authority: missing}}]', message: /ENOENT/ },
  { text: 'clusters: [{name: a, cluster: {server: 5}}]', message: /"server" must be a string/ },
  {
    text: 'clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: u, user: {client-key-data: eA==}}]',
    message: /given together/,
  },
]

for (const { text, message } of invalidConfigs) test(`rejected: ${text.slice(0, 120)}`, () => assert.throws(() => read(text), message))

test('users are found by host and port, by wildcard, and by default', () => {
  const user = (name: string): string => `- {name: "${name}", user: {token: "${name}"}}`
  const names = ['a.example.com:8443', '*.example.com:8443', 'b.example.com', '*.svc', 'last']
  const text = `users:\n${names.map(user).join('\n')}\ncontexts: [{name: c, context: {user: last}}]\ncurrent-context: c`
  const find = readCredentials(join(folder, 'config.yaml'), text)
  const authorizationFor = (target: string): string | undefined => find(target)?.authorization?.()
  assert.deepEqual(
    ['a.example.com:8443', 'z.example.com:8443', 'b.example.com:443', 'b.example.com:444', 's.n.svc:443', 'other:1'].map(authorizationFor),
    ['a.example.com:8443', '*.example.com:8443', 'b.example.com', 'last', '*.svc', 'last'].map((name) => `Bearer ${name}`),
  )
  const withDefault = readCredentials(join(folder, 'config.yaml'), `users:\n${user('*')}\n- {name: x:1, user: {username: u, password: p}}`)
  assert.equal(withDefault('y:2')?.authorization?.(), 'Bearer *')
  assert.equal(withDefault('x:1')?.authorization?.(), `Basic ${Buffer.from('u:p').toString('base64')}`)
  assert.equal(readCredentials(join(folder, 'c'), 'users: []')('y:2'), undefined)
})
