// What the server says to every flag of the reference: accepted with an effect, refused with a reason, or without effect. None is unknown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FlagDefinition, FlagError } from './flag.js'
import { allFlags } from './flag-table.js'
import { parseFlags } from './parse-flags.js'
import { readSettings } from './read-settings.js'

const reference = `
advertise-address cors-allowed-origins default-not-ready-toleration-seconds default-unreachable-toleration-seconds
enable-priority-and-fairness external-hostname feature-gates goaway-chance livez-grace-period max-mutating-requests-inflight
max-requests-inflight min-request-timeout request-timeout shutdown-delay-duration shutdown-send-retry-after
strict-transport-security-directives delete-collection-workers enable-garbage-collector encryption-provider-config
encryption-provider-config-automatic-reload etcd-cafile etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period
etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers
etcd-servers-overrides lease-reuse-duration-seconds storage-backend storage-media-type watch-cache watch-cache-sizes bind-address
cert-dir http2-max-streams-per-connection permit-address-sharing permit-port-sharing secure-port tls-cert-file tls-cipher-suites
tls-min-version tls-private-key-file tls-sni-cert-key audit-log-batch-buffer-size audit-log-batch-max-size
audit-log-batch-max-wait audit-log-batch-throttle-burst audit-log-batch-throttle-enable audit-log-batch-throttle-qps
audit-log-compress audit-log-format audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path
audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-log-version audit-policy-file
audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst
audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps audit-webhook-config-file audit-webhook-initial-backoff
audit-webhook-mode audit-webhook-truncate-enabled audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size
audit-webhook-version contention-profiling profiling anonymous-auth api-audiences authentication-token-webhook-cache-ttl
authentication-token-webhook-config-file authentication-token-webhook-version client-ca-file enable-bootstrap-token-auth
oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs
oidc-username-claim oidc-username-prefix requestheader-allowed-names requestheader-client-ca-file
requestheader-extra-headers-prefix requestheader-group-headers requestheader-username-headers
service-account-extend-token-expiration service-account-issuer service-account-jwks-uri service-account-key-file
service-account-lookup service-account-max-token-expiration token-auth-file authorization-mode authorization-policy-file
authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl authorization-webhook-config-file
authorization-webhook-version cloud-config cloud-provider runtime-config egress-selector-config-file admission-control
admission-control-config-file disable-admission-plugins enable-admission-plugins allow-metric-labels disabled-metrics
show-hidden-metrics-for-version log-flush-frequency log-json-info-buffer-size log-json-split-stream logging-format v vmodule
tracing-config-file aggregator-reject-forwarding-redirect allow-privileged enable-aggregator-routing endpoint-reconciler-type
event-ttl kubelet-certificate-authority kubelet-client-certificate kubelet-client-key kubelet-preferred-address-types
kubelet-timeout kubernetes-service-node-port max-connection-bytes-per-sec proxy-client-cert-file proxy-client-key-file
service-account-signing-key-file service-cluster-ip-range service-node-port-range help version
`
  .trim()
  .split(/\s+/)

const refused = ['admission-control', 'cloud-config', 'cloud-provider', 'etcd-servers-overrides', 'kubernetes-service-node-port', 'vmodule']

const withoutEffect = [
  'permit-address-sharing',
  'storage-media-type',
  'watch-cache',
  'watch-cache-sizes',
  'default-watch-cache-size',
  'log-flush-frequency',
  'log-json-info-buffer-size',
]

/** They need files, or others beside them. */
const needsMore = /^(?:oidc-|requestheader-|service-account-|authentication-|authorization-|egress-)/

const definitionOf = (name: string): FlagDefinition => {
  const found = allFlags.find((flag) => flag.name === name)
  assert.ok(found, `--${name} is unknown`)
  return found
}

test('each flag of the reference is known, and refused where it cannot be meant', () => {
  for (const name of reference) {
    const flag = definitionOf(name)
    assert.equal(flag.refused !== undefined, refused.includes(name), name)
    if (flag.refused !== undefined) assert.throws(() => parseFlags([`--${name}=x`]), new FlagError(`--${name}: ${flag.refused}`))
  }
})

test('flags without effect are these', () => {
  const names = allFlags.filter(({ effect }) => effect === 'none').map(({ name }) => name)
  assert.deepEqual(names, withoutEffect)
})

/** Defaults and plain values, for all that need no file and nothing beside them. */
const values: { readonly [name: string]: string } = {
  'advertise-address': '192.0.2.1',
  'allow-metric-labels': 'apiserver_request_total,verb=GET',
  'cors-allowed-origins': 'example[.]com',
  'disabled-metrics': 'apiserver_response_sizes',
  'external-hostname': 'api.example.com',
  'feature-gates': 'APIServerIdentity=true',
  'goaway-chance': '0.01',
  'logging-format': 'text',
  'request-timeout': '30s',
  'service-cluster-ip-range': '10.1.0.0/24',
  'show-hidden-metrics-for-version': '1.25',
  'storage-backend': 'memory',
  'storage-media-type': 'application/json',
  'strict-transport-security-directives': 'max-age=31536000',
  'tls-min-version': 'VersionTLS12',
  'watch-cache-sizes': 'configmaps#100',
}

const plainKinds = new Set(['boolean', 'integer', 'number', 'duration', 'bytes', 'port', 'text', 'choice'])
const needsOthers = /^(?:etcd-(?:prefix|servers)|lease-reuse|encryption-|help$|version$)/

test('flags that are accepted are so together, and the rest is named', async () => {
  const argv = reference.flatMap((name) => {
    const flag = definitionOf(name)
    if (flag.refused !== undefined || needsOthers.test(name) || needsMore.test(name)) return []
    const value = values[name] ?? (plainKinds.has(flag.kind) ? flag.default : undefined)
    return value === undefined ? [] : [`--${name}=${value}`]
  })
  assert.ok(argv.length > 45, String(argv.length))
  const { flagsWithoutEffect } = await readSettings(parseFlags(argv))
  assert.deepEqual(
    flagsWithoutEffect,
    withoutEffect.filter((name) => reference.includes(name)).map((name) => `--${name}`),
  )
})

for (const { argv, reason } of [
  { argv: ['--apiserver-count=3'], reason: /^--apiserver-count: does not go with --endpoint-reconciler-type=lease/ },
  { argv: ['--contention-profiling'], reason: /^--contention-profiling: there is nothing to profile/ },
  { argv: ['--log-json-split-stream'], reason: /^--log-json-split-stream: all lines go to standard error/ },
  { argv: ['--show-hidden-metrics-for-version=1.20'], reason: /^--show-hidden-metrics-for-version: only .* 1\.25$/ },
  { argv: ['--allow-metric-labels=verb'], reason: /^--allow-metric-labels: "verb": write / },
]) {
  test(`${argv.join(' ')} is refused`, async () => {
    await assert.rejects(async () => readSettings(parseFlags(argv)), { message: reason })
  })
}

test('the number of servers is taken where it counts', async () => {
  const { keepsEndpoints } = await readSettings(parseFlags(['--apiserver-count=3', '--endpoint-reconciler-type=master-count']))
  assert.equal(keepsEndpoints, true)
})

for (const { v, level, requests } of [
  { v: 0, level: 'info', requests: 'none' },
  { v: 2, level: 'info', requests: 'conspicuous' },
  { v: 4, level: 'debug', requests: 'conspicuous' },
  { v: 6, level: 'debug', requests: 'all' },
]) {
  test(`--v=${v}`, async () => {
    const { logLevel, loggedRequests } = await readSettings(parseFlags([`--v=${v}`]))
    assert.deepEqual([logLevel, loggedRequests], [level, requests])
  })
}

test('allowed values of labels, of several metrics', async () => {
  const { metrics } = await readSettings(
    parseFlags(['--allow-metric-labels=a_total,code=200,201,a_total,verb=GET', '--allow-metric-labels=b,c=d']),
  )
  const plain = Array.from(metrics.allowedLabels, ([family, labels]) => [family, Array.from(labels, ([label, set]) => [label, [...set]])])
  assert.deepEqual(plain, [
    [
      'a_total',
      [
        ['code', ['200', '201']],
        ['verb', ['GET']],
      ],
    ],
    ['b', [['c', ['d']]]],
  ])
})
