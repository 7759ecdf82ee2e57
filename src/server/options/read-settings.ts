// From flags to settings: files are read, flags that belong together are checked together, and every value gets its final form.

import { resolve } from 'node:path'
import type { FeatureGates } from '../../api/definition.js'
import { parseFeatureGates } from '../../api/feature-gates.js'
import { type Identity, identityOf } from '../../api/identity.js'
import { parseRuntimeConfig } from '../../api/runtime-config.js'
import { timerMs } from '../../base/clock.js'
import { ciphersOf, tlsVersionOf } from '../../net/tls-names.js'
import { isUnspecified } from '../advertised.js'
import { parseTokenFile, type TokenFile } from '../token-file.js'
import { type ReadText, readFromDisk } from './file-texts.js'
import { flagError } from './flag.js'
import { readFlagFiles } from './flag-files.js'
import { allFlags, type FlagName, type FlagValues } from './flag-table.js'
import { controllerNames, namedControllers, ownControllers } from './flags/api.js'
import { ineffectiveFlags } from './ineffective-flags.js'
import type { ParsedFlags } from './parse-flags.js'
import { readAdmission } from './read-admission.js'
import { readAgents } from './read-agents.js'
import { readAggregation } from './read-aggregation.js'
import { readAudit } from './read-audit.js'
import { readAuthentication } from './read-authentication.js'
import { readAuthorization } from './read-authorization.js'
import { type EgressSettings, parseEgressConfig } from './read-egress.js'
import { parseEncryptionConfig, unknownEncrypted } from './read-encryption.js'
import { readNetwork } from './read-network.js'
import { readLogging, readMetrics } from './read-observability.js'
import { readPair } from './read-pair.js'
import { readServing } from './read-serving.js'
import { readSigning } from './read-signing.js'
import { readStorage } from './read-storage.js'
import { parseTracingConfig } from './read-tracing.js'
import type {
  ControllerName,
  EncryptionSettings,
  LimitSettings,
  Settings,
  TimeoutSettings,
  TlsSettings,
  TracingSettings,
} from './settings.js'

/** What the readers of single areas share. */
export interface SettingsInput extends ParsedFlags {
  /** Contents of the files that flags name, by path. */
  readonly files: ReadonlyMap<string, string>
  /** For the files that those name. */
  readonly readText: ReadText
}

/** Throws a FlagError, one sentence, for the first thing that is wrong. */
export async function readSettings(parsed: ParsedFlags): Promise<Settings> {
  const { values, given } = parsed
  const readText = readFromDisk
  const input: SettingsInput = { ...parsed, files: readFlagFiles(parsed, readText), readText }
  const { storage, etcd } = readStorage(input)
  const tokens = readTokens(input)
  const identity = identityOf(values['identity'])
  const { authorizationModes, authorization } = readAuthorization(input, identity)
  // Nobody in particular must not be allowed everything.
  const anonymousAuth = values['anonymous-auth'] && !authorizationModes.includes('AlwaysAllow')
  const encryption = readEncryption(input, identity)
  const { audit, warnings: auditWarnings } = readAudit(input, identity)
  const gates = under('feature-gates', () => parseFeatureGates(values['feature-gates']))
  return {
    flags: parsed,
    identity,
    bindAddress: values['bind-address'],
    advertiseAddress: readAdvertised(values),
    keepsEndpoints: readKeepsEndpoints(values),
    collectsGarbage: values['enable-garbage-collector'],
    controllers: readControllers(values),
    signing: readSigning(input),
    ownLease: readOwnLease(values),
    securePort: values['secure-port'],
    dataDir: storage === 'memory' && !given.has('data-dir') ? undefined : resolve(values['data-dir']),
    storage,
    etcd,
    encryption,
    patience: { healthMs: values['etcd-healthcheck-timeout'], readinessMs: values['etcd-readycheck-timeout'] },
    historyMs: values['etcd-compaction-interval'] === 0 ? Number.POSITIVE_INFINITY : values['etcd-compaction-interval'],
    readCacheBytes: values['read-cache-bytes'],
    eventTtlSeconds: atLeast(1000, 'event-ttl', values) / 1000,
    tls: readTls(input),
    serving: readServing(input),
    timeouts: readTimeouts(values),
    limits: readLimits(values),
    gates,
    runtimeConfig: under('runtime-config', () => parseRuntimeConfig(values['runtime-config'])),
    tokens: tokens.users,
    anonymousAuth,
    authorizationModes,
    authentication: readAuthentication(input),
    authorization,
    admission: readAdmission(input, identity),
    network: readNetwork(values),
    aggregation: readAggregation(input),
    agents: readAgents(input),
    audit,
    allowPrivileged: values['allow-privileged'],
    profiling: values['profiling'],
    metrics: readMetrics(values),
    ...readLogging(values),
    tracing: readTracing(input, identity, gates),
    egress: readEgress(input, identity),
    deletionWorkers: values['delete-collection-workers'],
    workerThreads: values['worker-threads'],
    flagsWithoutEffect: allFlags
      .filter((flag) => flag.effect === 'none' && (given as ReadonlySet<string>).has(flag.name))
      .map((flag) => `--${flag.name}`),
    warnings: [
      ...unknownEncrypted(encryption?.rules ?? new Map(), identity).map(
        (name) => `--encryption-provider-config: there is no resource ${JSON.stringify(name)}`,
      ),
      ...auditWarnings,
      ...ineffectiveFlags(parsed),
      ...tokens.warnings.map((warning) => `--token-auth-file: ${warning}`),
      ...(given.has('anonymous-auth') && values['anonymous-auth'] && !anonymousAuth
        ? ['--anonymous-auth: stays off, because --authorization-mode has AlwaysAllow']
        : []),
    ],
  }
}

/** The sentence of a plain error, with the flag that it is about. */
export function under<T>(flag: FlagName, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw flagError(flag, (error as Error).message)
  }
}

function atLeast(ms: number, flag: 'event-ttl' | 'request-timeout', values: FlagValues): number {
  if (values[flag] < ms) throw flagError(flag, `must be at least ${ms / 1000}s`)
  return values[flag]
}

/** One that means all addresses leads nowhere: then one is found, as in the reference. */
function readAdvertised(values: FlagValues): string | undefined {
  const address = values['advertise-address']
  return address === undefined || isUnspecified(address) ? undefined : address
}

/** What is said of one counts before what is said of all. */
function readControllers(values: FlagValues): readonly ControllerName[] {
  const wanted: readonly string[] = values['controllers']
  const isWanted = (name: string): boolean =>
    wanted.includes(name) || (wanted.includes('*') && !wanted.includes(`-${name}`) && !namedControllers.includes(name))
  const isLeftToOthers = (name: string): boolean =>
    (values['external-controller-manager'] && !ownControllers.includes(name)) ||
    (name === 'garbagecollector' && !values['enable-garbage-collector'])
  return controllerNames.filter((name) => isWanted(name) && !isLeftToOthers(name))
}

function readKeepsEndpoints(values: FlagValues): boolean {
  const type = values['endpoint-reconciler-type']
  if (values['apiserver-count'] !== 1 && type !== 'master-count')
    throw flagError('apiserver-count', `does not go with --endpoint-reconciler-type=${type}, which finds out by itself; leave it out`)
  return type !== 'none'
}

function readOwnLease(values: FlagValues): Settings['ownLease'] {
  const seconds = values['identity-lease-duration-seconds']
  // Seldom enough that an idle server stays idle, and three times before the lease would end.
  const renewSeconds = values['identity-lease-renew-interval-seconds'] ?? seconds / 4
  if (renewSeconds >= seconds) {
    throw flagError('identity-lease-renew-interval-seconds', 'must be less than --identity-lease-duration-seconds')
  }
  return { seconds, renewMs: timerMs(renewSeconds * 1000) }
}

function readEncryption({ values, files, given }: SettingsInput, identity: Identity): EncryptionSettings | undefined {
  const path = values['encryption-provider-config']
  const reloads = values['encryption-provider-config-automatic-reload']
  if (path === undefined) {
    if (reloads && given.has('encryption-provider-config-automatic-reload'))
      throw flagError('encryption-provider-config-automatic-reload', 'needs --encryption-provider-config, too')
    return undefined
  }
  const text = files.get(path) ?? ''
  const parse = () => parseEncryptionConfig(text, identity)
  return { path: resolve(path), text, rules: under('encryption-provider-config', parse), reloads }
}

function readTracing({ values, files }: SettingsInput, identity: Identity, gates: FeatureGates): TracingSettings | undefined {
  const path = values['tracing-config-file']
  return path === undefined ? undefined : under('tracing-config-file', () => parseTracingConfig(files.get(path) ?? '', identity, gates))
}

function readEgress({ values, files }: SettingsInput, identity: Identity): EgressSettings {
  const path = values['egress-selector-config-file']
  return path === undefined ? {} : under('egress-selector-config-file', () => parseEgressConfig(files.get(path) ?? '', identity))
}

function readTokens({ values, files }: SettingsInput): TokenFile {
  const path = values['token-auth-file']
  return path === undefined ? { users: new Map(), warnings: [] } : parseTokenFile(files.get(path) ?? '')
}

function readTls(input: SettingsInput): TlsSettings {
  const { values } = input
  const named = readPair(input, 'tls-cert-file', 'tls-private-key-file')
  return {
    files: named?.files,
    key: named?.pair.key,
    minVersion: tlsVersionOf(values['tls-min-version']),
    ciphers: ciphersOf(values['tls-cipher-suites']),
  }
}

const readTimeouts = (values: FlagValues): TimeoutSettings => ({
  requestMs: atLeast(1000, 'request-timeout', values),
  minWatchMs: values['min-request-timeout'] * 1000,
  shutdownDelayMs: values['shutdown-delay-duration'],
  livezGraceMs: values['livez-grace-period'],
})

const readLimits = (values: FlagValues): LimitSettings => ({
  readingInFlight: values['max-requests-inflight'],
  mutatingInFlight: values['max-mutating-requests-inflight'],
  fairness: values['enable-priority-and-fairness'],
  watches: values['max-watches'],
  http2Streams: values['http2-max-streams-per-connection'] || 250,
  goawayChance: values['goaway-chance'],
})
