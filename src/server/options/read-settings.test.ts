// From flags to settings: files, flags that belong together, and the sentence for every mistake.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { issueCertificate } from '../../net/issue-certificate.js'
import { controllerNames, namedControllers, ownControllers } from './flags/api.js'
import { parseFlags } from './parse-flags.js'
import { readSettings } from './read-settings.js'
import type { Settings } from './settings.js'

const folder = mkdtempSync(join(tmpdir(), 'settings-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const pair = issueCertificate({ commonName: 'a', use: 'authority', ...times })
const other = issueCertificate({ commonName: 'b', use: 'authority', ...times })
const cert = file('a.crt', pair.cert)
const key = file('a.key', pair.key)
const otherKey = file('b.key', other.key)
const publicKey = file(
  'rsa.pub',
  generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
)
const nonsense = file('nonsense', 'hello: [')
const broken = file('broken.crt', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
const brokenKey = file('broken.key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
const tokens = file('tokens.csv', 'a-token,alice,1,"devs,readers"\nb-token,bob,2\n,nobody,3\n')
const shortTokens = file('short.csv', 'a-token,alice,1\nb-token,bob\n')
const webhook = file('webhook.yaml', 'kind: Config\nclusters:\n- name: x\n  cluster: {server: "https://127.0.0.1"}\n')
const webhookJson = file('webhook.json', '{"clusters":[{"cluster":{"server":"https://127.0.0.1"}}]}')
const serverless = file('serverless.yaml', 'kind: Config\nclusters: []\n')
const policy = file('policy.jsonl', '# first\n{"user":"a"}\n\n{"group":"b"}\n')
const wrongPolicy = file('wrong.jsonl', '{"a":1}\n[1]\n')
const kindless = file('kindless.yaml', 'plugins: []\n')
const missing = join(folder, 'missing')

const read = (argv: readonly string[]): Promise<Settings> => readSettings(parseFlags(argv))

test('settings of an empty command line', async () => {
  const settings = await read([])
  assert.equal(settings.identity.name, 'cluster')
  assert.equal(settings.bindAddress, '127.0.0.1')
  assert.equal(settings.securePort, 6443)
  assert.equal(settings.dataDir, resolve('cluster-data'))
  assert.equal(settings.storage, 'lmdb')
  assert.equal(settings.historyMs, 300_000)
  assert.equal(settings.readCacheBytes, 268_435_456)
  assert.equal(settings.eventTtlSeconds, 3600)
  assert.deepEqual(settings.tls, { files: undefined, key: undefined, minVersion: 'TLSv1.2', ciphers: undefined })
  assert.deepEqual(settings.timeouts, { requestMs: 60_000, minWatchMs: 1_800_000, shutdownDelayMs: 0, livezGraceMs: 0 })
  assert.deepEqual(settings.limits, {
    readingInFlight: 400,
    mutatingInFlight: 200,
    fairness: true,
    watches: 100_000,
    http2Streams: 250,
    goawayChance: 0,
  })
  assert.deepEqual(settings.flagsWithoutEffect, [])
  assert.deepEqual(settings.warnings, [])
  assert.equal(settings.gates('ServerSideApply'), true)
})

const etcdServers = '--etcd-servers=https://me:secret@10.0.0.1:2379,https://10.0.0.2'
test('addresses of etcd choose etcd, and are shown without the password', async () => {
  const settings = await read([etcdServers, `--etcd-cafile=${cert}`, '--lease-reuse-duration-seconds=5'])
  assert.equal(settings.storage, 'etcd')
  assert.deepEqual(settings.etcd, {
    servers: ['https://me:secret@10.0.0.1:2379', 'https://10.0.0.2'],
    addresses: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
    prefix: '/registry',
    tls: { caFile: cert },
    leaseReuseMs: 5000,
  })
  assert.equal((await read([etcdServers, '--storage-backend=etcd3'])).storage, 'etcd')
})

const usualLoops = controllerNames.filter((name) => !namedControllers.includes(name))

const oidc = ['--oidc-issuer-url=https://issuer', '--oidc-client-id=me']
for (const row of [
  { name: 'memory keeps nothing', argv: ['--storage-backend=memory'], pick: (s: Settings) => s.dataDir, value: undefined },
  { name: 'memory with a folder', argv: ['--storage-backend=memory', '--data-dir=/x'], pick: (s: Settings) => s.dataDir, value: '/x' },
  { name: 'all history', argv: ['--etcd-compaction-interval=0'], pick: (s: Settings) => s.historyMs, value: Number.POSITIVE_INFINITY },
  {
    name: 'anonymous is off where all is allowed',
    argv: ['--authorization-mode=AlwaysAllow'],
    pick: (s: Settings) => s.anonymousAuth,
    value: false,
  },
  { name: 'anonymous is on otherwise', argv: [], pick: (s: Settings) => s.anonymousAuth, value: true },
  {
    name: 'anonymous asked for where all is allowed',
    argv: ['--anonymous-auth', '--authorization-mode=AlwaysAllow'],
    pick: (s: Settings) => s.warnings.length,
    value: 1,
  },
  {
    name: 'tokens',
    argv: [`--token-auth-file=${tokens}`],
    pick: (s: Settings) => s.tokens.get('a-token'),
    value: { name: 'alice', uid: '1', groups: ['devs', 'readers'], extra: {} },
  },
  {
    name: 'a token without a user',
    argv: [`--token-auth-file=${tokens}`],
    pick: (s: Settings) => s.warnings,
    value: ['--token-auth-file: the token in line 3 is empty, the line is passed over'],
  },
  {
    name: 'TLS files',
    argv: [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`],
    pick: (s: Settings) => s.tls.files,
    value: { certFile: cert, keyFile: key },
  },
  {
    name: 'cipher suites',
    argv: ['--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    pick: (s: Settings) => s.tls.ciphers?.split(':').at(-1),
    value: 'ECDHE-RSA-AES128-GCM-SHA256',
  },
  { name: 'client CA', argv: [`--client-ca-file=${cert}`], pick: (s: Settings) => s.authentication.clientCa, value: pair.cert },
  {
    name: 'keys, private and public',
    argv: [`--service-account-key-file=${key}`, `--service-account-key-file=${publicKey}`],
    pick: (s: Settings) => s.authentication.serviceAccounts.keys.length,
    value: 2,
  },
  { name: 'user names of an issuer', argv: oidc, pick: (s: Settings) => s.authentication.oidc?.usernamePrefix, value: 'https://issuer#' },
  {
    name: 'mail addresses of an issuer',
    argv: [...oidc, '--oidc-username-claim=email'],
    pick: (s: Settings) => s.authentication.oidc?.usernamePrefix,
    value: '',
  },
  {
    name: 'no prefix',
    argv: [...oidc, '--oidc-username-prefix=-'],
    pick: (s: Settings) => s.authentication.oidc?.usernamePrefix,
    value: '',
  },
  {
    name: 'claims',
    argv: [...oidc, '--oidc-required-claim=a=1,b=2=3'],
    pick: (s: Settings) => s.authentication.oidc?.requiredClaims,
    value: { a: '1', b: '2=3' },
  },
  {
    name: 'webhook',
    argv: [`--authentication-token-webhook-config-file=${webhook}`],
    pick: (s: Settings) => s.authentication.tokenWebhook?.version,
    value: 'v1beta1',
  },
  {
    name: 'webhook in JSON',
    argv: [`--authentication-token-webhook-config-file=${webhookJson}`],
    pick: (s: Settings) => s.authentication.tokenWebhook?.acceptedTtlMs,
    value: 120_000,
  },
  {
    name: 'policies',
    argv: ['--authorization-mode=ABAC', `--authorization-policy-file=${policy}`],
    pick: (s: Settings) => s.authorization.policies.map(({ user, group }) => user || group),
    value: ['a', 'b'],
  },
  {
    name: 'node ports by length',
    argv: ['--service-node-port-range=30000+10'],
    pick: (s: Settings) => s.network.nodePorts,
    value: { first: 30000, last: 30010 },
  },
  {
    name: 'two families',
    argv: ['--service-cluster-ip-range=10.0.0.0/16,fd00::/108'],
    pick: (s: Settings) => s.network.serviceRanges.length,
    value: 2,
  },
  ...['0.0.0.0', '::', '0:0:0:0:0:0:0:0'].map((address) => ({
    name: `an address that others cannot go to: ${address}`,
    argv: [`--advertise-address=${address}`],
    pick: (s: Settings) => s.advertiseAddress,
    value: undefined,
  })),
  {
    name: 'flags of something that no flag asks for',
    argv: ['--audit-log-maxage=3', '--requestheader-group-headers=X-Group', '--requestheader-allowed-names=proxy'],
    pick: (s: Settings) => s.warnings,
    value: [
      '--audit-log-maxage: no effect without --audit-log-path',
      '--requestheader-group-headers, --requestheader-allowed-names: no effect without --requestheader-client-ca-file',
    ],
  },
  {
    name: 'flags without effect',
    argv: ['--watch-cache', '--authorization-mode=RBAC', '--storage-media-type=application/json'],
    pick: (s: Settings) => s.flagsWithoutEffect,
    value: ['--storage-media-type', '--watch-cache'],
  },
  {
    name: 'the lease of the server',
    argv: ['--identity-lease-duration-seconds=100'],
    pick: (s: Settings) => s.ownLease,
    value: { seconds: 100, renewMs: 25_000 },
  },
  {
    name: 'how often that lease is renewed',
    argv: ['--identity-lease-renew-interval-seconds=10'],
    pick: (s: Settings) => s.ownLease,
    value: { seconds: 3600, renewMs: 10_000 },
  },
  {
    name: 'a lease for years',
    argv: ['--identity-lease-duration-seconds=100000000'],
    pick: (s: Settings) => s.ownLease.renewMs,
    value: 2_147_483_647,
  },
  { name: 'all loops but those that are to be named', argv: [], pick: (s: Settings) => s.controllers, value: usualLoops },
  {
    name: 'all loops',
    argv: ['--controllers=*,tokencleaner,bootstrapsigner'],
    pick: (s: Settings) => s.controllers,
    value: controllerNames,
  },
  {
    name: 'all loops but one',
    argv: ['--controllers=*,-root-ca-cert-publisher'],
    pick: (s: Settings) => s.controllers,
    value: usualLoops.filter((name) => name !== 'root-ca-cert-publisher'),
  },
  {
    name: 'no loop that a controller manager has',
    argv: ['--external-controller-manager', '--controllers=*,tokencleaner'],
    pick: (s: Settings) => s.controllers,
    value: ownControllers,
  },
  {
    name: 'nobody collects garbage',
    argv: ['--enable-garbage-collector=false', '--controllers=namespace,garbagecollector'],
    pick: (s: Settings) => [s.controllers, s.collectsGarbage],
    value: [['namespace'], false],
  },
  { name: 'one loop', argv: ['--controllers=namespace'], pick: (s: Settings) => s.controllers, value: ['namespace'] },
  { name: 'endpoints', argv: [], pick: (s: Settings) => s.keepsEndpoints, value: true },
  { name: 'no endpoints', argv: ['--endpoint-reconciler-type=none'], pick: (s: Settings) => s.keepsEndpoints, value: false },
  { name: 'verbosity', argv: ['--v=4'], pick: (s: Settings) => s.logLevel, value: 'debug' },
]) {
  test(`settings: ${row.name}`, async () => assert.deepEqual(row.pick(await read(row.argv)), row.value))
}

for (const row of [
  {
    argv: ['--identity-lease-duration-seconds=10', '--identity-lease-renew-interval-seconds=10'],
    problem: '--identity-lease-renew-interval-seconds: must be less than --identity-lease-duration-seconds',
  },
  { argv: [`--token-auth-file=${missing}`], problem: `--token-auth-file: cannot read ${missing}: there is no such file` },
  { argv: [`--token-auth-file=${folder}`], problem: `--token-auth-file: cannot read ${folder}: it is a folder` },
  {
    argv: [`--token-auth-file=${shortTokens}`],
    problem: `--token-auth-file: ${shortTokens}: line 2 must have at least 3 columns (token, user name, user uid), found 2`,
  },
  { argv: [`--client-ca-file=${nonsense}`], problem: `--client-ca-file: ${nonsense}: it holds no PEM certificate` },
  { argv: [`--client-ca-file=${broken}`], problem: `--client-ca-file: ${broken}: its certificate number 1 is broken` },
  {
    argv: [`--service-account-signing-key-file=${cert}`],
    problem: `--service-account-signing-key-file: ${cert}: it holds no PEM private key`,
  },
  {
    argv: [`--service-account-signing-key-file=${brokenKey}`],
    problem: `--service-account-signing-key-file: ${brokenKey}: its private key is broken or needs a passphrase`,
  },
  { argv: [`--service-account-key-file=${nonsense}`], problem: `--service-account-key-file: ${nonsense}: it holds no PEM key` },
  { argv: [`--tls-cert-file=${cert}`], problem: '--tls-cert-file: needs --tls-private-key-file, too' },
  { argv: [`--tls-private-key-file=${key}`], problem: '--tls-private-key-file: needs --tls-cert-file, too' },
  {
    argv: [`--cluster-signing-kubelet-client-cert-file=${cert}`],
    problem: '--cluster-signing-kubelet-client-cert-file: needs --cluster-signing-kubelet-client-key-file, too',
  },
  {
    argv: [`--cluster-signing-kubelet-serving-key-file=${key}`],
    problem: '--cluster-signing-kubelet-serving-key-file: needs --cluster-signing-kubelet-serving-cert-file, too',
  },
  {
    argv: [
      `--cluster-signing-cluster-apiserver-client-cert-file=${cert}`,
      `--cluster-signing-cluster-apiserver-client-key-file=${otherKey}`,
    ],
    problem: `--cluster-signing-cluster-apiserver-client-key-file: the key in ${otherKey} does not belong to the certificate in ${cert}`,
  },
  {
    argv: [`--tls-cert-file=${cert}`, `--tls-private-key-file=${otherKey}`],
    problem: `--tls-private-key-file: the key in ${otherKey} does not belong to the certificate in ${cert}`,
  },
  {
    argv: [`--admission-control-config-file=${kindless}`],
    problem: `--admission-control-config-file: ${kindless}: it has no apiVersion and kind`,
  },
  { argv: [`--audit-policy-file=${tokens}`], problem: `--audit-policy-file: ${tokens}: it is not a YAML mapping` },
  {
    argv: ['--authorization-mode=Webhook', `--authorization-webhook-config-file=${serverless}`],
    problem: `--authorization-webhook-config-file: ${serverless}: it names no server to reach`,
  },
  {
    argv: ['--authorization-mode=ABAC', `--authorization-policy-file=${wrongPolicy}`],
    problem: `--authorization-policy-file: ${wrongPolicy}: line 2 is not a JSON object`,
  },
  { argv: ['--authorization-mode=ABAC'], problem: '--authorization-mode: ABAC needs --authorization-policy-file' },
  { argv: [`--authorization-policy-file=${policy}`], problem: '--authorization-policy-file: needs ABAC in --authorization-mode' },
  { argv: ['--authorization-mode=RBAC,RBAC'], problem: '--authorization-mode: RBAC is there twice' },
  { argv: ['--authorization-mode='], problem: '--authorization-mode: at least one mode is needed' },
  {
    argv: ['--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority'],
    problem: '--disable-admission-plugins: Priority is also in --enable-admission-plugins',
  },
  { argv: ['--oidc-client-id=me'], problem: '--oidc-client-id: needs --oidc-issuer-url, too' },
  { argv: ['--oidc-issuer-url=https://x'], problem: '--oidc-issuer-url: needs --oidc-client-id, too' },
  {
    argv: ['--oidc-issuer-url=http://x', '--oidc-client-id=me'],
    problem: '--oidc-issuer-url: "http://x" is not a URL that begins with https://',
  },
  { argv: [...oidc, '--oidc-required-claim=a'], problem: '--oidc-required-claim: "a" is not written claim=value' },
  {
    argv: [`--requestheader-client-ca-file=${cert}`],
    problem: '--requestheader-client-ca-file: needs --requestheader-username-headers, too',
  },
  { argv: [`--proxy-client-cert-file=${cert}`], problem: '--proxy-client-cert-file: needs --proxy-client-key-file, too' },
  { argv: ['--service-account-issuer=http://a b'], problem: '--service-account-issuer: "http://a b" is not a URL' },
  { argv: ['--service-cluster-ip-range=10.0.0.0'], problem: '--service-cluster-ip-range: "10.0.0.0" is not a range such as 10.0.0.0/24' },
  { argv: ['--service-cluster-ip-range=10.0.0.0/30'], problem: '--service-cluster-ip-range: "10.0.0.0/30" has less than 8 addresses' },
  { argv: ['--service-cluster-ip-range=fd00::/126'], problem: '--service-cluster-ip-range: "fd00::/126" has less than 8 addresses' },
  {
    argv: ['--service-account-max-token-expiration=59m'],
    problem: '--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds',
  },
  { argv: ['--service-cluster-ip-range=10.0.0.0/8,11.0.0.0/8'], problem: '--service-cluster-ip-range: both ranges are of the same family' },
  { argv: ['--service-node-port-range=9-3'], problem: '--service-node-port-range: "9-3" is not a range of ports such as 30000-32767' },
  { argv: ['--feature-gates=Nonsense=true'], problem: '--feature-gates: unrecognized feature gate: Nonsense' },
  { argv: ['--runtime-config=apps/v1=x'], problem: '--runtime-config: apps/v1=x: "x" is neither true nor false' },
  {
    argv: ['--storage-backend=etcd3'],
    problem: '--storage-backend: etcd3 needs --etcd-servers, such as --etcd-servers=https://10.0.0.1:2379',
  },
  {
    argv: [etcdServers, '--storage-backend=lmdb'],
    problem: '--etcd-servers: does not go with --storage-backend=lmdb; leave one of them out',
  },
  {
    argv: ['--etcd-servers=10.0.0.1:2379'],
    problem: '--etcd-servers: "10.0.0.1:2379" is no address of etcd: write it like https://10.0.0.1:2379',
  },
  { argv: ['--etcd-servers='], problem: '--etcd-servers: at least one address is needed, such as https://10.0.0.1:2379' },
  { argv: [etcdServers, `--etcd-certfile=${cert}`], problem: '--etcd-certfile: needs --etcd-keyfile, too' },
  { argv: [etcdServers, `--etcd-keyfile=${key}`], problem: '--etcd-keyfile: needs --etcd-certfile, too' },
  { argv: ['--etcd-prefix=/x'], problem: '--etcd-prefix: needs --etcd-servers, too' },
  { argv: ['--request-timeout=0'], problem: '--request-timeout: must be at least 1s' },
]) {
  test(`settings refused: ${row.argv.join(' ').replaceAll(folder, '')}`, () =>
    assert.rejects(read(row.argv), { name: 'FlagError', message: row.problem }))
}

test('YAML that is none says where', () =>
  assert.rejects(read([`--audit-policy-file=${nonsense}`]), /--audit-policy-file: .*nonsense: it is not YAML: .*line \d+/))
