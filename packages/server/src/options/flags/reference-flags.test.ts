// Every flag of kube-apiserver is accepted, rejected with a reason, or accepted without effect.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '../read-settings.js'
import { type FlagDefinition, FlagError } from './flag.js'
import { allFlags } from './flag-table.js'
import { parseFlags } from './parse-flags.js'

const kubeApiserverFlags = `
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

const refused = ['admission-control', 'cloud-config', 'cloud-provider', 'etcd-servers-overrides', 'kubernetes-service-node-port']

const withoutEffect = [
  'permit-address-sharing',
  'insecure-port',
  'insecure-bind-address',
  'storage-media-type',
  'watch-cache',
  'watch-cache-sizes',
  'default-watch-cache-size',
  'vmodule',
  'log-flush-frequency',
  'log-json-info-buffer-size',
]

/** Flags that need a file or another flag. */
const needsFileOrFlag = /^(?:oidc-|requestheader-|service-account-|authentication-|authorization-|egress-)/

const definitionOf = (name: string): FlagDefinition => {
  const found = allFlags.find((flag) => flag.name === name)
  assert.ok(found, `--${name} is unknown`)
  return found
}

test('every flag of kube-apiserver is known; unsupported ones are rejected', () => {
  for (const name of kubeApiserverFlags) {
    const flag = definitionOf(name)
    assert.equal(flag.refused !== undefined, refused.includes(name), name)
    if (flag.refused !== undefined) assert.throws(() => parseFlags([`--${name}=x`]), new FlagError(`--${name}: ${flag.refused}`))
  }
})

test('only the listed flags have no effect', () => {
  const names = allFlags.filter(({ effect }) => effect === 'none').map(({ name }) => name)
  assert.deepEqual(names, withoutEffect)
})

/** Values for flags without a valid default. */
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
  vmodule: 'etcd*=4,rest=2',
  'watch-cache-sizes': 'configmaps#100',
}

/** Kinds whose default is a valid value. */
const kindsWithDefault = new Set(['boolean', 'integer', 'number', 'duration', 'bytes', 'port', 'text', 'choice'])
/** Flags that cannot be combined with the others. */
const conflictsWithOthers = /^(?:etcd-(?:prefix|servers)|lease-reuse|encryption-|help$|version$)/

test('all supported flags can be given together', async () => {
  const argv = kubeApiserverFlags.flatMap((name) => {
    const flag = definitionOf(name)
    if ((flag.refused !== undefined && flag.default === undefined) || conflictsWithOthers.test(name) || needsFileOrFlag.test(name))
      return []
    const value = values[name] ?? (kindsWithDefault.has(flag.kind) ? flag.default : undefined)
    return value === undefined ? [] : [`--${name}=${value}`]
  })
  assert.ok(argv.length > 45, String(argv.length))
  const { flagsWithoutEffect } = await readSettings(parseFlags(argv))
  assert.deepEqual(
    flagsWithoutEffect,
    withoutEffect.filter((name) => kubeApiserverFlags.includes(name)).map((name) => `--${name}`),
  )
})

test('--allow-metric-labels: labels of several metrics', async () => {
  const { metrics } = await readSettings(
    parseFlags(['--allow-metric-labels=a_total,code=200,201,a_total,verb=GET', '--allow-metric-labels=b,c=d']),
  )
  const allowedLabels = Array.from(metrics.allowedLabels, ([family, labels]) => [
    family,
    Array.from(labels, ([label, set]) => [label, [...set]]),
  ])
  assert.deepEqual(allowedLabels, [
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
