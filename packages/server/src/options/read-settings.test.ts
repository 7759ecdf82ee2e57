// Reading settings from flags: files, dependent flags, error messages.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { issueCertificate } from '../net/tls/issue-certificate.js'
import { version1Authority } from '../net/tls/version-1-certificate.fixture.js'
import { apiServerControllers, controllerNames, optInControllers, workloadNames } from './flags/api.js'
import { parseFlags } from './flags/parse-flags.js'
import { readSettings } from './read-settings.js'
import type { Settings } from './settings.js'

const folder = mkdtempSync(join(tmpdir(), 'settings-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const pair = issueCertificate({ commonName: 'a', use: 'authority', ...validity })
const otherPair = issueCertificate({ commonName: 'b', use: 'authority', ...validity })
const cert = file('a.crt', pair.cert)
const key = file('a.key', pair.key)
const { cert: version1Cert, key: version1Key } = version1Authority()
const oldCert = file('v1.crt', version1Cert)
const oldKey = file('v1.key', version1Key)
const leaf = issueCertificate({ commonName: 'leaf', use: 'client', ...validity }, { ...pair, commonName: 'a' })
const leafCert = file('leaf.crt', leaf.cert)
const leafKey = file('leaf.key', leaf.key)
const otherKey = file('b.key', otherPair.key)
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
const secret = file('secret', `${'a1'.repeat(16)}\n`)
const shortSecret = file('short-secret', 'hello\n')
const spacedSecret = file('spaced-secret', 'hello '.repeat(16))

const read = (flags: string): Promise<Settings> => readSettings(parseFlags(flags.split(' ').filter(Boolean)))

test('settings of an empty command line', async () => {
  const settings = await read('')
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
test('--etcd-servers select etcd; shown without the password', async () => {
  const settings = await read(`${etcdServers} --etcd-cafile=${cert} --lease-reuse-duration-seconds=5`)
  assert.equal(settings.storage, 'etcd')
  assert.deepEqual(settings.etcd, {
    servers: ['https://me:secret@10.0.0.1:2379', 'https://10.0.0.2'],
    addresses: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
    prefix: '/registry',
    tls: { caFile: cert },
    leaseReuseMs: 5000,
  })
  assert.equal((await read(`${etcdServers} --storage-backend=etcd3`)).storage, 'etcd')
})

const defaultControllers = controllerNames.filter((name) => !optInControllers.includes(name))

const oidc = '--oidc-issuer-url=https://issuer --oidc-client-id=me'
const cases: readonly (readonly [flags: string, pick: (settings: Settings) => unknown, value: unknown])[] = [
  ['--storage-backend=memory', (s) => s.dataDir, undefined],
  ['--storage-backend=memory --data-dir=/x', (s) => s.dataDir, '/x'],
  ['--etcd-compaction-interval=0', (s) => s.historyMs, Number.POSITIVE_INFINITY],
  ['--authorization-mode=AlwaysAllow', (s) => s.anonymousAuth, false],
  ['', (s) => s.anonymousAuth, true],
  ['', (s) => s.testkit, undefined],
  ['--testkit --bind-address=::1', (s) => s.testkit, { token: undefined }],
  [`--testkit --bind-address=0.0.0.0 --testkit-token-file=${secret}`, (s) => s.testkit, { token: 'a1'.repeat(16) }],
  ['--anonymous-auth --authorization-mode=AlwaysAllow', (s) => s.warnings.length, 1],
  [
    `--cluster-signing-cert-file=${oldCert} --cluster-signing-key-file=${oldKey}`,
    (s) => s.signing.pairs?.client,
    { cert: version1Cert, key: version1Key },
  ],
  [`--token-auth-file=${tokens}`, (s) => s.tokens.get('a-token'), { name: 'alice', uid: '1', groups: ['devs', 'readers'], extra: {} }],
  [`--token-auth-file=${tokens}`, (s) => s.warnings, ['--token-auth-file: line 3 has an empty token and is ignored']],
  [`--tls-cert-file=${cert} --tls-private-key-file=${key}`, (s) => s.tls.files, { certFile: cert, keyFile: key }],
  ['--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', (s) => s.tls.ciphers?.split(':').at(-1), 'ECDHE-RSA-AES128-GCM-SHA256'],
  [`--client-ca-file=${cert}`, (s) => s.authentication.clientCa, pair.cert],
  [`--service-account-key-file=${key} --service-account-key-file=${publicKey}`, (s) => s.authentication.serviceAccounts.keys.length, 2],
  [oidc, (s) => s.authentication.oidc?.usernamePrefix, 'https://issuer#'],
  [`${oidc} --oidc-username-claim=email`, (s) => s.authentication.oidc?.usernamePrefix, ''],
  [`${oidc} --oidc-username-prefix=-`, (s) => s.authentication.oidc?.usernamePrefix, ''],
  [`${oidc} --oidc-required-claim=a=1,b=2=3`, (s) => s.authentication.oidc?.requiredClaims, { a: '1', b: '2=3' }],
  [`--authentication-token-webhook-config-file=${webhook}`, (s) => s.authentication.tokenWebhook?.version, 'v1beta1'],
  [`--authentication-token-webhook-config-file=${webhookJson}`, (s) => s.authentication.tokenWebhook?.acceptedTtlMs, 120_000],
  [
    `--authorization-mode=ABAC --authorization-policy-file=${policy}`,
    (s) => s.authorization.policies.map(({ user, group }) => user || group),
    ['a', 'b'],
  ],
  ['--service-node-port-range=30000+10', (s) => s.network.nodePorts, { first: 30000, last: 30010 }],
  ['--service-cluster-ip-range=10.0.0.0/16,fd00::/108', (s) => s.network.serviceRanges.length, 2],
  ['--advertise-address=0.0.0.0', (s) => s.advertiseAddress, undefined],
  ['--advertise-address=::', (s) => s.advertiseAddress, undefined],
  ['--advertise-address=0:0:0:0:0:0:0:0', (s) => s.advertiseAddress, undefined],
  [
    '--audit-log-maxage=3 --requestheader-group-headers=X-Group --requestheader-allowed-names=proxy',
    (s) => s.warnings,
    [
      '--audit-log-maxage: no effect without --audit-log-path',
      '--requestheader-group-headers, --requestheader-allowed-names: no effect without --requestheader-client-ca-file',
    ],
  ],
  [
    '--watch-cache --authorization-mode=RBAC --storage-media-type=application/json',
    (s) => s.flagsWithoutEffect,
    ['--storage-media-type', '--watch-cache'],
  ],
  ['--identity-lease-duration-seconds=100', (s) => s.identityLease, { seconds: 100, renewMs: 25_000 }],
  ['--identity-lease-renew-interval-seconds=10', (s) => s.identityLease, { seconds: 3600, renewMs: 10_000 }],
  ['--identity-lease-duration-seconds=100000000', (s) => s.identityLease.renewMs, 2_147_483_647],
  ['', (s) => s.controllers, defaultControllers],
  ['--controllers=*,tokencleaner,bootstrapsigner', (s) => s.controllers, controllerNames],
  ['--controllers=*,-root-ca-cert-publisher', (s) => s.controllers, defaultControllers.filter((name) => name !== 'root-ca-cert-publisher')],
  ['', (s) => s.workloads, []],
  ['--controllers=*,workloads', (s) => [s.controllers, s.workloads], [defaultControllers, workloadNames]],
  ['--controllers=*,workloads,-replicaset', (s) => s.workloads, workloadNames.filter((name) => name !== 'replicaset')],
  ['--controllers=*,replicaset', (s) => s.workloads, ['replicaset']],
  ['--simulate-nodes=3', (s) => [s.simulation, s.workloads], [{ nodes: 3 }, workloadNames]],
  ['--simulate-nodes=0 --external-controller-manager', (s) => [s.simulation, s.workloads], [{ nodes: 0 }, []]],
  ['', (s) => s.simulation, undefined],
  ['--external-controller-manager --controllers=*,workloads', (s) => s.workloads, []],
  ['--external-controller-manager --controllers=*,tokencleaner', (s) => s.controllers, apiServerControllers],
  [
    '--enable-garbage-collector=false --controllers=namespace,garbagecollector',
    (s) => [s.controllers, s.collectsGarbage],
    [['namespace'], false],
  ],
  ['--controllers=namespace', (s) => s.controllers, ['namespace']],
  ['', (s) => s.keepsEndpoints, true],
  ['--endpoint-reconciler-type=none', (s) => s.keepsEndpoints, false],
  ['--apiserver-count=3 --endpoint-reconciler-type=master-count', (s) => s.keepsEndpoints, true],
  ['--v=0', (s) => [s.logLevel, s.loggedRequests], ['info', 'none']],
  ['--v=2', (s) => [s.logLevel, s.loggedRequests], ['info', 'conspicuous']],
  ['--v=4', (s) => [s.logLevel, s.loggedRequests], ['debug', 'conspicuous']],
  ['--v=6', (s) => [s.logLevel, s.loggedRequests], ['debug', 'all']],
]
for (const [flags, pick, value] of cases)
  test(`settings: ${flags.replaceAll(folder, '')} ${pick}`, async () => assert.deepEqual(pick(await read(flags)), value))

for (const [flags, message] of [
  [
    '--identity-lease-duration-seconds=10 --identity-lease-renew-interval-seconds=10',
    '--identity-lease-renew-interval-seconds: must be less than --identity-lease-duration-seconds',
  ],
  [`--token-auth-file=${missing}`, `--token-auth-file: cannot read ${missing}: the file does not exist`],
  [`--token-auth-file=${folder}`, `--token-auth-file: cannot read ${folder}: it is a directory`],
  [
    `--token-auth-file=${shortTokens}`,
    `--token-auth-file: ${shortTokens}: line 2 must have at least 3 columns (token, user name, user uid), found 2`,
  ],
  [`--client-ca-file=${nonsense}`, `--client-ca-file: ${nonsense}: it has no PEM certificate`],
  [`--client-ca-file=${broken}`, `--client-ca-file: ${broken}: certificate 1 is invalid`],
  [`--service-account-signing-key-file=${cert}`, `--service-account-signing-key-file: ${cert}: it has no PEM private key`],
  [
    `--service-account-signing-key-file=${brokenKey}`,
    `--service-account-signing-key-file: ${brokenKey}: the private key is invalid or needs a passphrase`,
  ],
  [`--service-account-key-file=${nonsense}`, `--service-account-key-file: ${nonsense}: it has no PEM key`],
  [`--testkit-token-file=${secret}`, '--testkit-token-file: needs --testkit'],
  [`--testkit --testkit-token-file=${shortSecret}`, `--testkit-token-file: ${shortSecret}: it must have at least 32 characters`],
  [
    `--testkit --testkit-token-file=${spacedSecret}`,
    `--testkit-token-file: ${spacedSecret}: it must have one line of printable ASCII characters without spaces`,
  ],
  [
    '--testkit --bind-address=0.0.0.0',
    '--testkit: other machines can connect to --bind-address=0.0.0.0; use a loopback address, or set the token with --testkit-token-file',
  ],
  [`--tls-cert-file=${cert}`, '--tls-cert-file: needs --tls-private-key-file'],
  [`--tls-private-key-file=${key}`, '--tls-private-key-file: needs --tls-cert-file'],
  [
    `--cluster-signing-kubelet-client-cert-file=${cert}`,
    '--cluster-signing-kubelet-client-cert-file: needs --cluster-signing-kubelet-client-key-file',
  ],
  [
    `--cluster-signing-kubelet-serving-key-file=${key}`,
    '--cluster-signing-kubelet-serving-key-file: needs --cluster-signing-kubelet-serving-cert-file',
  ],
  [
    `--cluster-signing-cert-file=${leafCert} --cluster-signing-key-file=${leafKey}`,
    `--cluster-signing-cert-file: the certificate in ${leafCert} is not a CA certificate`,
  ],
  [
    `--cluster-signing-cluster-apiserver-client-cert-file=${cert} --cluster-signing-cluster-apiserver-client-key-file=${otherKey}`,
    `--cluster-signing-cluster-apiserver-client-key-file: the key in ${otherKey} does not belong to the certificate in ${cert}`,
  ],
  [
    `--tls-cert-file=${cert} --tls-private-key-file=${otherKey}`,
    `--tls-private-key-file: the key in ${otherKey} does not belong to the certificate in ${cert}`,
  ],
  [`--admission-control-config-file=${kindless}`, `--admission-control-config-file: ${kindless}: it has no apiVersion and kind`],
  [`--audit-policy-file=${tokens}`, `--audit-policy-file: ${tokens}: it is not a YAML mapping`],
  [
    `--authorization-mode=Webhook --authorization-webhook-config-file=${serverless}`,
    `--authorization-webhook-config-file: ${serverless}: it has no server`,
  ],
  [
    `--authorization-mode=ABAC --authorization-policy-file=${wrongPolicy}`,
    `--authorization-policy-file: ${wrongPolicy}: line 2 is not a JSON object`,
  ],
  ['--authorization-mode=ABAC', '--authorization-mode: ABAC needs --authorization-policy-file'],
  [`--authorization-policy-file=${policy}`, '--authorization-policy-file: needs ABAC in --authorization-mode'],
  ['--authorization-mode=RBAC,RBAC', '--authorization-mode: RBAC is given twice'],
  ['--authorization-mode=', '--authorization-mode: at least one mode is required'],
  [
    '--enable-admission-plugins=Priority --disable-admission-plugins=Priority',
    '--disable-admission-plugins: Priority is also in --enable-admission-plugins',
  ],
  ['--oidc-client-id=me', '--oidc-client-id: needs --oidc-issuer-url'],
  ['--oidc-issuer-url=https://x', '--oidc-issuer-url: needs --oidc-client-id'],
  ['--oidc-issuer-url=http://x --oidc-client-id=me', '--oidc-issuer-url: "http://x" is not an https:// URL'],
  [`${oidc} --oidc-required-claim=a`, '--oidc-required-claim: "a" must have the format claim=value'],
  [`--requestheader-client-ca-file=${cert}`, '--requestheader-client-ca-file: needs --requestheader-username-headers'],
  [`--proxy-client-cert-file=${cert}`, '--proxy-client-cert-file: needs --proxy-client-key-file'],
  ['--service-account-issuer=http://', '--service-account-issuer: "http://" is not a URL'],
  ['--service-cluster-ip-range=10.0.0.0', '--service-cluster-ip-range: "10.0.0.0" is not a range such as 10.0.0.0/24'],
  ['--service-cluster-ip-range=10.0.0.0/30', '--service-cluster-ip-range: "10.0.0.0/30" has fewer than 8 addresses'],
  ['--service-cluster-ip-range=fd00::/126', '--service-cluster-ip-range: "fd00::/126" has fewer than 8 addresses'],
  ['--service-account-max-token-expiration=59m', '--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds'],
  ['--service-cluster-ip-range=10.0.0.0/8,11.0.0.0/8', '--service-cluster-ip-range: both ranges have the same IP family'],
  ['--service-node-port-range=9-3', '--service-node-port-range: "9-3" is not a port range such as 30000-32767'],
  ['--feature-gates=Nonsense=true', '--feature-gates: unrecognized feature gate: Nonsense'],
  ['--runtime-config=apps/v1=x', '--runtime-config: apps/v1=x: "x" is neither true nor false'],
  ['--storage-backend=etcd3', '--storage-backend: etcd3 needs --etcd-servers, such as --etcd-servers=https://10.0.0.1:2379'],
  [`${etcdServers} --storage-backend=lmdb`, '--etcd-servers: cannot be combined with --storage-backend=lmdb; remove one of them'],
  ['--etcd-servers=10.0.0.1:2379', '--etcd-servers: "10.0.0.1:2379" is no address of etcd: write it like https://10.0.0.1:2379'],
  ['--etcd-servers=', '--etcd-servers: at least one endpoint is required, such as https://10.0.0.1:2379'],
  [`${etcdServers} --etcd-certfile=${cert}`, '--etcd-certfile: needs --etcd-keyfile'],
  [`${etcdServers} --etcd-keyfile=${key}`, '--etcd-keyfile: needs --etcd-certfile'],
  ['--etcd-prefix=/x', '--etcd-prefix: needs --etcd-servers'],
  ['--request-timeout=0', '--request-timeout: must be at least 1s'],
  [`--audit-policy-file=${nonsense}`, /--audit-policy-file: .*nonsense: it is not YAML: .*line \d+/],
  ['--apiserver-count=3', /^--apiserver-count: cannot be combined with --endpoint-reconciler-type=lease/],
  ['--contention-profiling', /^--contention-profiling: cannot be enabled: one thread/],
  ['--log-json-split-stream', /^--log-json-split-stream: cannot be enabled: all lines go to standard error/],
  ['--show-hidden-metrics-for-version=1.20', /^--show-hidden-metrics-for-version: must be .* 1\.25$/],
  ['--allow-metric-labels=verb', /^--allow-metric-labels: "verb": write /],
] as const)
  test(`rejected: ${flags.replaceAll(folder, '')}`, () => assert.rejects(read(flags), { name: 'FlagError', message }))
