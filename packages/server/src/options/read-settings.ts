// Reads all settings from the flags and the files that they name, and checks flags that depend on each other.

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseRuntimeConfig } from '@cluster-apiserver/api/api/catalog/runtime-config.js'
import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { ineffectiveGates, parseFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { type Identity, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseCidr } from '@cluster-apiserver/api/api/validation/network/cidr.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { ciphersOf, tlsVersionOf } from '../net/tls/tls-versions-and-ciphers.js'
import { parseEndpoint } from '../storage/etcd/etcd-endpoint.js'
import { isLoopback, isUnspecified } from './advertise-address.js'
import { readFlagFiles, readPair } from './files/flag-files.js'
import { parseTokenFile, type TokenFile } from './files/static-token-file.js'
import { apiServerControllers, controllerNames, optInControllers, workloadNames } from './flags/api.js'
import { flagError } from './flags/flag.js'
import { allFlags, type FlagName, type FlagValues } from './flags/flag-table.js'
import type { ParsedFlags } from './flags/parse-flags.js'
import { etcdOnlyFlags } from './flags/storage.js'
import { readAdmission } from './read-admission.js'
import { readAudit } from './read-audit.js'
import { readAuthentication, readAuthorization, readSigning } from './read-authentication.js'
import { type EgressSettings, parseEgressConfig } from './read-egress.js'
import { parseEncryptionConfig, unknownEncrypted } from './read-encryption.js'
import { parseTracingConfig, readLogging, readMetrics } from './read-observability.js'
import { readAggregation, readKubelets, readNetwork, readServing } from './read-serving.js'
import { readSimulation } from './read-simulation.js'
import { prefixErrors, readFromDisk, type SettingsInput } from './settings-input.js'

/** Throws a FlagError for the first problem. */
export async function readSettings(parsed: ParsedFlags) {
  const { values, given } = parsed
  const readText = readFromDisk
  const input: SettingsInput = { ...parsed, files: readFlagFiles(parsed, readText), readText }
  const { storage, etcd } = readStorage(input)
  const tokens = readTokens(input)
  const identity = identityOf(values['identity'])
  const { authorizationModes, authorization } = readAuthorization(input, identity)
  // With AlwaysAllow the anonymous user would have all permissions.
  const anonymousAuth = values['anonymous-auth'] && !authorizationModes.includes('AlwaysAllow')
  const encryption = readEncryption(input, identity)
  const { audit, warnings: auditWarnings } = readAudit(input, identity)
  const simulation = readSimulation(input, identity)
  const gates = prefixErrors('feature-gates', () => parseFeatureGates(values['feature-gates']))
  return {
    flags: parsed,
    identity,
    bindAddress: values['bind-address'],
    advertiseAddress: readAdvertised(values),
    keepsEndpoints: readKeepsEndpoints(values),
    collectsGarbage: values['enable-garbage-collector'],
    simulation,
    ...readControllers(values, simulation !== undefined),
    signing: readSigning(input),
    identityLease: readIdentityLease(values),
    securePort: values['secure-port'],
    workers: readWorkers(input, storage),
    dataDir: storage === 'memory' && !given.has('data-dir') ? undefined : resolve(values['data-dir']),
    storage,
    etcd,
    encryption,
    storageCheckTimeouts: { healthMs: values['etcd-healthcheck-timeout'], readinessMs: values['etcd-readycheck-timeout'] },
    historyMs: values['etcd-compaction-interval'] === 0 ? Number.POSITIVE_INFINITY : values['etcd-compaction-interval'],
    readCacheBytes: values['read-cache-bytes'],
    eventTtlSeconds: atLeast(1000, 'event-ttl', values) / 1000,
    tls: readTls(input),
    serving: readServing(input),
    timeouts: readTimeouts(values),
    limits: { ...readLimits(values), fairness: values['enable-priority-and-fairness'] && gates('APIPriorityAndFairness') },
    gates,
    runtimeConfig: prefixErrors('runtime-config', () => parseRuntimeConfig(values['runtime-config'])),
    tokens: tokens.users,
    anonymousAuth,
    authorizationModes,
    authentication: readAuthentication(input),
    authorization,
    admission: readAdmission(input, identity),
    network: readNetwork(values),
    aggregation: readAggregation(input),
    kubelets: readKubelets(input),
    audit,
    allowPrivileged: values['allow-privileged'],
    profiling: values['profiling'],
    metrics: readMetrics(values),
    ...readLogging(values),
    tracing: readTracing(input, identity, gates),
    egress: readEgress(input, identity),
    deletionWorkers: values['delete-collection-workers'],
    workerThreads: values['worker-threads'],
    testkit: readTestkit(input),
    flagsWithoutEffect: allFlags
      .filter((flag) => flag.effect === 'none' && (given as ReadonlySet<string>).has(flag.name))
      .map((flag) => `--${flag.name}`),
    warnings: [
      ...unknownEncrypted(encryption?.rules ?? new Map(), identity).map(
        (name) => `--encryption-provider-config: unknown resource ${JSON.stringify(name)}; it is not encrypted`,
      ),
      ...auditWarnings,
      ...ineffectiveFlags(parsed),
      ...ineffectiveGates(values['feature-gates']).map((name) => `--feature-gates: ${name} has no effect on this server`),
      ...tokens.warnings.map((warning) => `--token-auth-file: ${warning}`),
      ...(given.has('anonymous-auth') && values['anonymous-auth'] && !anonymousAuth
        ? ['--anonymous-auth: disabled, because --authorization-mode has AlwaysAllow']
        : []),
    ],
  }
}

function atLeast(ms: number, flag: 'event-ttl' | 'request-timeout', values: FlagValues): number {
  if (values[flag] < ms) throw flagError(flag, `must be at least ${ms / 1000}s`)
  return values[flag]
}

/** As in kube-apiserver, an unspecified address counts as unset. */
function readAdvertised(values: FlagValues): string | undefined {
  const address = values['advertise-address']
  return address === undefined || isUnspecified(address) ? undefined : address
}

function readControllers(values: FlagValues, isSimulated: boolean) {
  const enabled: readonly string[] = [...values['controllers'], ...(isSimulated ? ['workloads'] : [])]
  const isEnabled = (name: string, group: string): boolean =>
    enabled.includes(name) || (enabled.includes(group) && !enabled.includes(`-${name}`) && !optInControllers.includes(name))
  const isExternal = (name: string): boolean =>
    (values['external-controller-manager'] && !apiServerControllers.includes(name)) ||
    (name === 'garbagecollector' && !values['enable-garbage-collector'])
  return {
    controllers: controllerNames.filter((name) => isEnabled(name, '*') && !isExternal(name)),
    workloads: workloadNames.filter((name) => isEnabled(name, 'workloads') && !isExternal(name)),
    workloadFlags: {
      terminatedPodThreshold: values['terminated-pod-gc-threshold'],
      serviceLbRange: readLoadBalancerRange(values),
      podRanges: readPodRanges(values),
      serviceRanges: values['service-cluster-ip-range'],
    },
  }
}

function readLoadBalancerRange(values: FlagValues): string {
  const range = values['service-lb-range']
  if (parseCidr(range) === undefined) throw flagError('service-lb-range', `${JSON.stringify(range)} is not a range such as 198.51.100.0/24`)
  return range
}

const podMaskBits = { IPv4: 24, IPv6: 64 } as const

/** --node-cidr-mask-size is for the first range; a second one has the default of its IP family. */
function readPodRanges(values: FlagValues) {
  if (!values['allocate-node-cidrs']) return []
  const ranges = values['cluster-cidr'].map((text, i) => {
    const cluster = parseCidr(text)
    if (cluster === undefined) throw flagError('cluster-cidr', `${JSON.stringify(text)} is not a range such as 10.244.0.0/16`)
    const maskBits = (i === 0 ? values['node-cidr-mask-size'] : undefined) ?? podMaskBits[cluster.family]
    if (maskBits < cluster.bits || maskBits > (cluster.family === 'IPv4' ? 32 : 128) || maskBits - cluster.bits > 16)
      throw flagError('node-cidr-mask-size', `${maskBits} must be 0 to 16 larger than the mask of --cluster-cidr ${text}`)
    return { cluster, maskBits }
  })
  if (ranges.length === 0 || ranges.length > 2 || ranges[0]?.cluster.family === ranges[1]?.cluster.family)
    throw flagError('cluster-cidr', 'one range is required by --allocate-node-cidrs, or two of different IP families')
  return ranges
}

function readKeepsEndpoints(values: FlagValues): boolean {
  const type = values['endpoint-reconciler-type']
  if (values['apiserver-count'] !== 1 && type !== 'master-count')
    throw flagError(
      'apiserver-count',
      `cannot be combined with --endpoint-reconciler-type=${type}, which counts the servers itself; remove the flag`,
    )
  return type !== 'none'
}

function readIdentityLease(values: FlagValues) {
  const seconds = values['identity-lease-duration-seconds']
  // A quarter of the duration tolerates failed renewals.
  const renewSeconds = values['identity-lease-renew-interval-seconds'] ?? seconds / 4
  if (renewSeconds >= seconds) {
    throw flagError('identity-lease-renew-interval-seconds', 'must be less than --identity-lease-duration-seconds')
  }
  return { seconds, renewMs: timerMs(renewSeconds * 1000) }
}

function readEncryption({ values, files, given }: SettingsInput, identity: Identity) {
  const path = values['encryption-provider-config']
  const reloads = values['encryption-provider-config-automatic-reload']
  if (path === undefined) {
    if (reloads && given.has('encryption-provider-config-automatic-reload'))
      throw flagError('encryption-provider-config-automatic-reload', 'needs --encryption-provider-config')
    return undefined
  }
  const text = files.get(path) ?? ''
  const parse = () => parseEncryptionConfig(text, identity)
  return { path: resolve(path), text, rules: prefixErrors('encryption-provider-config', parse), reloads }
}

function readTracing({ values, files }: SettingsInput, identity: Identity, gates: FeatureGates) {
  const path = values['tracing-config-file']
  return path === undefined
    ? undefined
    : prefixErrors('tracing-config-file', () => parseTracingConfig(files.get(path) ?? '', identity, gates))
}

function readEgress({ values, files }: SettingsInput, identity: Identity): EgressSettings {
  const path = values['egress-selector-config-file']
  return path === undefined ? {} : prefixErrors('egress-selector-config-file', () => parseEgressConfig(files.get(path) ?? '', identity))
}

function readTokens({ values, files }: SettingsInput): TokenFile {
  const path = values['token-auth-file']
  return path === undefined ? { users: new Map(), warnings: [] } : parseTokenFile(files.get(path) ?? '')
}

/** Undefined without --testkit. Its token gives all permissions, so other machines may use it only if the token was chosen (--testkit-token-file). */
function readTestkit({ values, files }: SettingsInput): { readonly token: string | undefined } | undefined {
  const path = values['testkit-token-file']
  if (!values['testkit']) {
    if (path !== undefined) throw flagError('testkit-token-file', 'needs --testkit')
    return undefined
  }
  const address = values['bind-address']
  if (path === undefined && !isLoopback(address))
    throw flagError(
      'testkit',
      `other machines can connect to --bind-address=${address}; use a loopback address, or set the token with --testkit-token-file`,
    )
  return { token: path === undefined ? undefined : files.get(path)?.trim() }
}

function readTls(input: SettingsInput) {
  const { values } = input
  const filePair = readPair(input, 'tls-cert-file', 'tls-private-key-file')
  return {
    files: filePair?.files,
    key: filePair?.pair.key,
    minVersion: tlsVersionOf(values['tls-min-version']),
    ciphers: ciphersOf(values['tls-cipher-suites']),
  }
}

const readTimeouts = (values: FlagValues) => ({
  requestMs: atLeast(1000, 'request-timeout', values),
  minWatchMs: values['min-request-timeout'] * 1000,
  shutdownDelayMs: values['shutdown-delay-duration'],
  livezGraceMs: values['livez-grace-period'],
})

const readLimits = (values: FlagValues) => ({
  readingInFlight: values['max-requests-inflight'],
  mutatingInFlight: values['max-mutating-requests-inflight'],
  watches: values['max-watches'],
  http2Streams: values['http2-max-streams-per-connection'] || 250,
  goawayChance: values['goaway-chance'],
})

const dependentFlags: readonly { readonly requires: FlagName; readonly prefix: string }[] = [
  { requires: 'audit-log-path', prefix: 'audit-log-' },
  { requires: 'audit-webhook-config-file', prefix: 'audit-webhook-' },
  { requires: 'authentication-token-webhook-config-file', prefix: 'authentication-token-webhook-' },
  { requires: 'authorization-webhook-config-file', prefix: 'authorization-webhook-' },
  { requires: 'requestheader-client-ca-file', prefix: 'requestheader-' },
]

function ineffectiveFlags({ given }: Pick<ParsedFlags, 'given'>): readonly string[] {
  return dependentFlags.flatMap(({ requires, prefix }) => {
    const names = given.has(requires) ? [] : [...given].filter((name) => name.startsWith(prefix))
    return names.length === 0 ? [] : [`${names.map((name) => `--${name}`).join(', ')}: no effect without --${requires}`]
  })
}

function readStorage(input: SettingsInput) {
  const { values, given } = input
  const backend = values['storage-backend']
  const isEtcd = backend === 'etcd' || backend === 'etcd3'
  if (given.has('etcd-servers')) {
    if (given.has('storage-backend') && !isEtcd) {
      throw flagError('etcd-servers', `cannot be combined with --storage-backend=${backend}; remove one of them`)
    }
    return { storage: 'etcd' as const, etcd: readEtcd(input) }
  }
  if (isEtcd) throw flagError('storage-backend', `${backend} needs --etcd-servers, such as --etcd-servers=https://10.0.0.1:2379`)
  const ineffective = etcdOnlyFlags.find((flag: FlagName) => given.has(flag))
  if (ineffective !== undefined) throw flagError(ineffective, 'needs --etcd-servers')
  return { storage: backend, etcd: undefined }
}

function readEtcd({ values }: SettingsInput) {
  const servers = values['etcd-servers']
  if (servers.length === 0) throw flagError('etcd-servers', 'at least one endpoint is required, such as https://10.0.0.1:2379')
  const certFile = values['etcd-certfile']
  const keyFile = values['etcd-keyfile']
  if (certFile !== undefined && keyFile === undefined) throw flagError('etcd-certfile', 'needs --etcd-keyfile')
  if (keyFile !== undefined && certFile === undefined) throw flagError('etcd-keyfile', 'needs --etcd-certfile')
  const caFile = values['etcd-cafile']
  return {
    servers,
    addresses: prefixErrors('etcd-servers', () => servers.map((server) => parseEndpoint(server).url)),
    prefix: values['etcd-prefix'],
    tls: {
      ...(caFile === undefined ? {} : { caFile: resolve(caFile) }),
      ...(certFile === undefined || keyFile === undefined ? {} : { certFile: resolve(certFile), keyFile: resolve(keyFile) }),
    },
    leaseReuseMs: values['lease-reuse-duration-seconds'] * 1000,
  }
}

const maxWorkers = 64

function readWorkers({ values, given }: SettingsInput, storage: string): number {
  const text = values['workers']
  const workers = text === 'auto' ? Math.min(maxWorkers, availableParallelism()) : /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (workers < 1 || workers > maxWorkers)
    throw flagError('workers', `${JSON.stringify(text)} is neither auto nor a number from 1 to ${maxWorkers}`)
  if (workers === 1) return workers
  if (storage === 'memory')
    throw flagError('workers', 'needs a store in a file, which processes can share; remove --storage-backend=memory')
  if (storage === 'etcd') throw flagError('workers', 'needs the embedded store; with etcd, start one server per core as replicas')
  if (values['testkit']) throw flagError('workers', 'cannot be combined with --testkit, which controls one process')
  if (given.has('permit-port-sharing') && values['permit-port-sharing'])
    throw flagError('workers', 'cannot be combined with --permit-port-sharing: the workers share the port among themselves')
  return workers
}
