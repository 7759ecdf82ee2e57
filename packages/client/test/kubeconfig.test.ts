// Kubeconfig: files, merge, selection of a connection, credentials, in-cluster, proxy variables.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { identityNames, identityOf } from '../../api/src/api/identity.js'
import { issueCertificate } from '../../server/src/net/tls/issue-certificate.js'
import { chooseConnection, overrideConnection } from '../src/config/choose-connection.js'
import { type ClusterEntry, readConfigText } from '../src/config/kubeconfig.js'
import { ConfigError } from '../src/errors.js'
import { connectTo } from '../src/node/connect.js'
import { credentialsOf } from '../src/node/credentials.js'
import { inClusterConnection } from '../src/node/in-cluster.js'
import { configFiles, loadConfig } from '../src/node/load-kubeconfig.js'
import { environmentProxy } from '../src/node/proxy-environment.js'

/** Kubeconfig with one context, cluster and user. */
const kubeconfig = (cluster: string, user: string): string =>
  `current-context: c\ncontexts: [{ name: c, context: { cluster: k, user: u } }]\nclusters: [{ name: k, cluster: ${cluster} }]\nusers: [{ name: u, user: ${user} }]`

const folder = mkdtempSync(join(tmpdir(), 'client-config-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

const first = write(
  'first/config',
  `apiVersion: v1
kind: Config
current-context: one
clusters:
- name: shared
  cluster: { server: "https://first:6443", certificate-authority: pki/ca.crt }
contexts:
- name: one
  context: { cluster: shared, user: alice, namespace: shop }
users:
- name: alice
  user: { token: from-first }
`,
)
const second = write(
  'second/config',
  `current-context: two
clusters:
- name: shared
  cluster: { server: "https://second:6443", tls-server-name: other }
- name: own
  cluster: { server: "https://own:6443", insecure-skip-tls-verify: true, proxy-url: "socks5://proxy:1080" }
contexts:
- name: two
  context: { cluster: own, user: bob }
users:
- name: alice
  user: { username: alice, password: secret }
- name: bob
  user: { client-certificate: bob.crt, client-key: bob.key, as: carol, as-groups: [dev], as-user-extra: { scope: [a, b] } }
- name: plugin
  user: { exec: { apiVersion: x, command: ./bin/plugin } }
`,
)

describe('kubeconfig files', () => {
  test('KUBECONFIG and CLUSTERCONFIG list files; missing ones are ignored', () => {
    assert.deepEqual(configFiles({ environment: { KUBECONFIG: `${first}:${second}` } }), [first, second])
    assert.deepEqual(configFiles({ environment: { KUBECONFIG: first, CLUSTERCONFIG: second } }), [second])
    assert.deepEqual(configFiles({ file: second, environment: { KUBECONFIG: first } }), [second])
    const config = loadConfig({ environment: { KUBECONFIG: `${join(folder, 'none')}:${first}` } })
    assert.equal(config.currentContext, 'one')
  })

  test('the default is ~/.cluster/config, then ~/.kube/config', () => {
    const home = join(folder, 'home')
    write('home/.kube/config', 'current-context: kube')
    assert.equal(loadConfig({ environment: { HOME: home } }).currentContext, 'kube')
    write('home/.cluster/config', 'current-context: cluster')
    assert.equal(loadConfig({ environment: { HOME: home } }).currentContext, 'cluster')
    assert.deepEqual([...loadConfig({ environment: { HOME: join(folder, 'empty') } }).contexts], [])
  })

  test('an explicit file must exist', () => {
    assert.throws(() => loadConfig({ file: join(folder, 'none') }), /none does not exist/)
  })

  test('the first file with an entry wins', () => {
    const config = loadConfig({ environment: { KUBECONFIG: `${first}:${second}` } })
    assert.equal(config.currentContext, 'one')
    assert.deepEqual(config.clusters.get('shared'), {
      server: 'https://first:6443',
      'certificate-authority': join(folder, 'first/pki/ca.crt'),
    })
    assert.deepEqual(config.users.get('alice'), { token: 'from-first' })
    assert.deepEqual([...config.contexts.keys()], ['one', 'two'])
  })

  test('paths are relative to their file', () => {
    const { users } = loadConfig({ file: second })
    assert.equal(users.get('bob')?.['client-key'], join(folder, 'second/bob.key'))
    assert.equal(users.get('plugin')?.exec?.command, join(folder, 'second/bin/plugin'))
  })

  test('errors name the path of the field', () => {
    const fails = (text: string, message: RegExp): void =>
      assert.throws(
        () => readConfigText(text, 'my.conf'),
        (error) => error instanceof ConfigError && message.test(error.message),
      )
    fails('a: [', /^my\.conf: /)
    fails('- a', /^my\.conf: the document is not a mapping/)
    fails('kind: Pod', /my\.conf: kind "Pod"/)
    fails('clusters: {}', /my\.conf: clusters is not a list/)
    fails('clusters: [{ name: a, cluster: { server: 7 } }]', /my\.conf: clusters\[0\]\.cluster\.server is not a string/)
    fails('clusters: [{ name: a, cluster: { certificate-authority-data: "?" } }]', /certificate-authority-data is not base64/)
    fails('users: [{ name: a, user: { as-groups: dev } }]', /users\[0\]\.user\.as-groups is not a list of strings/)
    fails('users: [{ name: a, user: { exec: { env: [a] } } }]', /users\[0\]\.user\.exec\.env\[0\] is not a mapping/)
  })
})

describe('connection', () => {
  const config = loadConfig({ environment: { KUBECONFIG: `${first}:${second}` } })

  test('follows the current or the given context', () => {
    const { cluster, namespace, userName } = chooseConnection(config)
    assert.deepEqual([cluster.server, namespace, userName], ['https://first:6443', 'shop', 'alice'])
    const other = chooseConnection(config, { context: 'two', namespace: 'mine' })
    assert.deepEqual([other.cluster['proxy-url'], other.namespace, other.userName], ['socks5://proxy:1080', 'mine', 'bob'])
    assert.deepEqual(other.impersonate, { user: 'carol', groups: ['dev'], extra: { scope: ['a', 'b'] } })
  })

  test('overrides replace server and credentials', () => {
    const { cluster, user } = chooseConnection(config, {
      clusterEntry: { server: 'http://here' },
      userEntry: { username: 'me', password: 'x' },
    })
    assert.equal(cluster.server, 'http://here')
    assert.deepEqual(user, { username: 'me', password: 'x' })
  })

  test('rejects incomplete and contradictory entries', () => {
    const fails = (text: string, message: RegExp): void =>
      assert.throws(
        () => chooseConnection(readConfigText(text, 'x')),
        (error) => error instanceof ConfigError && message.test(error.message),
      )
    assert.throws(() => chooseConnection(config, { context: 'three' }), /context "three" does not exist; contexts: one, two/)
    assert.throws(() => chooseConnection(config, { cluster: 'three' }), /cluster "three" of context "one" does not exist/)
    fails('{}', /no client configuration was found/)
    fails('contexts: [{ name: a, context: {} }]', /no current-context is set; contexts: a/)
    fails(kubeconfig('{}', '{}'), /cluster "k" names no server/)
    fails(kubeconfig('{ server: s, certificate-authority: a, insecure-skip-tls-verify: true }', '{}'), /exclude each other/)
    fails(kubeconfig('{ server: s, proxy-url: "ftp://a" }', '{}'), /proxy-url "ftp:\/\/a" is not a URL/)
    fails(kubeconfig('{ server: s }', '{ client-key: a }'), /user "u": client-key without client-certificate/)
    fails(kubeconfig('{ server: s }', '{ token: a, username: b }'), /token and username exclude each other/)
    fails(kubeconfig('{ server: s }', '{ auth-provider: { name: gcp } }'), /auth-provider is not supported/)
    fails(kubeconfig('{ server: s }', '{ as-groups: [a] }'), /require as$/)
    fails(kubeconfig('{ server: "https://a b" }', '{}'), /cluster "k": server "https:\/\/a b" is not a valid URL/)
    fails(kubeconfig('{ server: "a:99999" }', '{}'), /cluster "k": server "a:99999" is not a valid URL/)
  })

  test('overrides of trust, certificate and server drop the related fields of the file', () => {
    const config = readConfigText(
      kubeconfig(
        '{ server: "https://a", tls-server-name: inner, certificate-authority-data: QUJD }',
        '{ client-certificate-data: QUJD, client-key-data: QUJD, token: t }',
      ),
      'x',
    )
    const clusterWith = (clusterEntry: ClusterEntry): ClusterEntry => chooseConnection(config, { clusterEntry }).cluster
    const file = { server: 'https://a', 'tls-server-name': 'inner' }
    assert.deepEqual(clusterWith({ 'insecure-skip-tls-verify': true }), { ...file, 'insecure-skip-tls-verify': true })
    assert.deepEqual(clusterWith({ 'certificate-authority': '/ca' }), { ...file, 'certificate-authority': '/ca' })
    assert.deepEqual(clusterWith({ server: 'https://b' }), { server: 'https://b', 'certificate-authority-data': 'QUJD' })
    assert.equal(clusterWith({ server: 'https://b', 'tls-server-name': 'c' })['tls-server-name'], 'c')
    const pair = { 'client-certificate': '/cert', 'client-key': '/key' }
    assert.deepEqual(chooseConnection(config, { userEntry: pair }).user, { ...pair, token: 't' })
    assert.throws(
      () => clusterWith({ 'certificate-authority': '/ca', 'insecure-skip-tls-verify': true }),
      /cluster "k": certificate-authority and insecure-skip-tls-verify exclude each other/,
    )
  })
})

describe('credentials', () => {
  const sourceFor = (user: Parameters<typeof chooseConnection>[1] & object) =>
    credentialsOf(chooseConnection(readConfigText('{}', 'x'), { ...user, clusterEntry: { server: 'https://a' } }), undefined)

  test('token, basic auth, client certificate', () => {
    assert.deepEqual(sourceFor({ userEntry: { token: 'abc' } })?.current(), { authorization: 'Bearer abc' })
    assert.deepEqual(sourceFor({ userEntry: { username: 'a', password: 'b' } })?.current(), { authorization: 'Basic YTpi' })
    const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
    const { cert, key } = issueCertificate({ commonName: 'alice', use: 'client', ...validity })
    const entry = { 'client-certificate-data': Buffer.from(cert).toString('base64'), 'client-key': write('pair/key', key) }
    assert.deepEqual(sourceFor({ userEntry: entry })?.current(), { certificate: { cert, key } })
    assert.equal(sourceFor({}), undefined)
  })

  test('tokenFile is read again after 401 and takes precedence over token', () => {
    const path = write('token', 'first\n')
    const source = sourceFor({ userEntry: { tokenFile: path, token: 'fallback' } })
    assert.deepEqual(source?.current(), { authorization: 'Bearer first' })
    assert.equal(source?.invalidate?.({}), false)
    writeFileSync(path, 'second\n')
    assert.deepEqual(source?.current(), { authorization: 'Bearer first' })
    assert.equal(source?.invalidate?.({}), true)
    assert.deepEqual(source?.current(), { authorization: 'Bearer second' })
    rmSync(path)
    assert.equal(source?.invalidate?.({}), false)
    assert.deepEqual(source?.current(), { authorization: 'Bearer second' })
    assert.deepEqual(sourceFor({ userEntry: { tokenFile: path, token: 'fallback' } })?.current(), { authorization: 'Bearer fallback' })
    assert.throws(() => sourceFor({ userEntry: { tokenFile: path } })?.current(), /tokenFile: ENOENT/)
  })

  test('a token with invalid header characters is a CredentialError', () => {
    assert.throws(() => sourceFor({ userEntry: { token: 'a\nb' } }), /CredentialError: the user: the token has a line break/)
    const path = write('broken-token', 'a\nb\n')
    assert.throws(() => sourceFor({ userEntry: { tokenFile: path } })?.current(), /the user: tokenFile: the token has a line break/)
    writeFileSync(path, '\n')
    assert.throws(() => sourceFor({ userEntry: { tokenFile: path } })?.current(), /the user: tokenFile: the token is empty/)
  })

  test('a server without scheme uses https if TLS settings exist, else http', async () => {
    const ca = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64')
    const servers: readonly (readonly [ClusterEntry, string])[] = [
      [{}, 'http://127.0.0.1:1'],
      [{ 'insecure-skip-tls-verify': true }, 'https://127.0.0.1:1'],
      [{ 'certificate-authority-data': ca }, 'https://127.0.0.1:1'],
      [{ server: 'http://127.0.0.1:1', 'insecure-skip-tls-verify': true }, 'http://127.0.0.1:1'],
    ]
    for (const [entry, expected] of servers) {
      const client = connectTo(chooseConnection(readConfigText('{}', 'x'), { clusterEntry: { server: '127.0.0.1:1', ...entry } }))
      await assert.rejects(client.version(), (error: Error) => error.message.startsWith(`GET ${expected}: `))
    }
  })
})

test('in-cluster connection from service account files, for both identities', () => {
  for (const name of identityNames) {
    const { label, self } = identityOf(name)
    const secrets = join(folder, `secrets-${name}`)
    for (const [file, text] of Object.entries({ token: 'abc', 'ca.crt': 'CA', namespace: 'shop\n' })) {
      write(join(`secrets-${name}`, label('serviceaccount'), file), text)
    }
    const environment = { [`${self.toUpperCase()}_SERVICE_HOST`]: 'fd00::1', [`${self.toUpperCase()}_SERVICE_PORT`]: '443' }
    const found = inClusterConnection({ secrets, environment })
    assert.equal(found?.cluster.server, 'https://[fd00::1]:443')
    assert.equal(found?.namespace, 'shop')
    assert.equal(found?.user.tokenFile, join(secrets, label('serviceaccount'), 'token'))
    assert.equal(inClusterConnection({ secrets, environment: {} }), undefined)
    assert.equal(inClusterConnection({ secrets, environment: { ...environment, POD_NAMESPACE: 'stock' } })?.namespace, 'stock')
    assert.ok(found !== undefined)
    const { namespace, user, cluster } = overrideConnection(found, { namespace: 'other', userEntry: { token: 't', as: 'alice' } })
    assert.deepEqual([namespace, user, cluster], ['other', { token: 't', as: 'alice' }, found.cluster])
    assert.deepEqual(overrideConnection(found, { userEntry: { as: 'alice' } }).impersonate, { user: 'alice' })
    assert.deepEqual(overrideConnection(found, {}), found)
  }
})

test('HTTPS_PROXY with exceptions of NO_PROXY', () => {
  const environment = { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'internal.example,.local,10.0.0.0/8,10.9.9.9:1' }
  const proxyFor = (server: string): string | undefined => environmentProxy(server, environment)
  assert.equal(proxyFor('https://api.example'), 'http://proxy:3128')
  assert.equal(proxyFor('http://api.example'), undefined)
  for (const host of ['internal.example', 'a.internal.example', 'x.local', '10.1.2.3', 'localhost', '127.0.0.1']) {
    assert.equal(proxyFor(`https://${host}:6443`), undefined, host)
  }
  assert.equal(proxyFor('https://notinternal.example'), 'http://proxy:3128')
  assert.equal(proxyFor('https://11.1.2.3'), 'http://proxy:3128')
  assert.equal(proxyFor('https://local'), 'http://proxy:3128')
  for (const HTTPS_PROXY of [':::', 'ftp://proxy'])
    assert.throws(
      () => environmentProxy('https://a', { HTTPS_PROXY }),
      new RegExp(`ConfigError: HTTPS_PROXY "${HTTPS_PROXY}" is not a URL`),
    )
})

test('NO_PROXY matches IPv4 and IPv6 addresses, CIDRs and ports', () => {
  const isDirect = (server: string, NO_PROXY: string): boolean =>
    environmentProxy(server, { HTTPS_PROXY: 'proxy:3128', NO_PROXY }) === undefined
  for (const [server, list] of [
    ['https://[fd00::1]:6443', 'fd00::1'],
    ['https://[fd00:0:0::1]:6443', 'other,FD00::1'],
    ['https://[fd00::1]:6443', '[fd00::1]:6443'],
    ['https://[fd12:3::1]:6443', 'fd00::/8'],
    ['https://10.9.9.9:1', '10.9.9.9:1'],
    ['https://a.example:6443', '*.example:6443'],
  ] as const)
    assert.equal(isDirect(server, list), true, `${server} ${list}`)
  for (const [server, list] of [
    ['https://[fd00::2]:6443', 'fd00::1'],
    ['https://[fd00::1]:6443', '[fd00::1]:443'],
    ['https://[fe00::1]:6443', 'fd00::/8'],
    ['https://10.9.9.9:2', '10.9.9.9:1'],
    ['https://10.0.0.1', '10.0.0.0/33'],
    ['https://127.example', ''],
  ] as const)
    assert.equal(isDirect(server, list), false, `${server} ${list}`)
})
