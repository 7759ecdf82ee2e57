// Everything that the command line decides, read and checked: the one value from which the server is assembled.

import type { AdmissionConfig } from '../../admission/config/admission-config.js'
import type { FeatureGates } from '../../api/definition.js'
import type { Identity } from '../../api/identity.js'
import type { RuntimeConfig } from '../../api/runtime-config.js'
import type { User } from '../../api/user.js'
import type { AuditMode } from '../../audit/backend.js'
import type { Batching } from '../../audit/buffered.js'
import type { Rotation } from '../../audit/log-file.js'
import type { Truncation } from '../../audit/truncated.js'
import type { Policy } from '../../auth/abac/policies.js'
import type { LoggedRequests } from '../../http/request-log.js'
import type { KeyPair } from '../../net/issue-certificate.js'
import type { EndpointSettings } from '../../net/json-endpoint.js'
import type { CertificateFiles } from '../../net/reloading-certificate.js'
import type { TlsVersion } from '../../net/tls-names.js'
import type { Policy as AuditPolicy } from '../../resources/audit/v1.schema.js'
import type { EncryptionRules } from '../../storage/encryption/encryption.js'
import type { EtcdTls } from '../../storage/etcd/endpoint.js'
import type { FindCredentials } from '../connection-file.js'
import type { controllerNames } from './flags/api.js'
import type { authorizationModes } from './flags/authorization.js'
import type { ParsedFlags } from './parse-flags.js'
import type { EgressSettings } from './read-egress.js'

export type AuthorizationMode = (typeof authorizationModes)[number]

export type ControllerName = (typeof controllerNames)[number]

export interface Settings {
  /** What it was read from, for another thread to read it, too. */
  readonly flags: ParsedFlags
  readonly identity: Identity
  readonly bindAddress: string
  /** Undefined: found among the addresses of this machine. */
  readonly advertiseAddress: string | undefined
  /** Whether the server keeps the endpoints of its own service. */
  readonly keepsEndpoints: boolean
  /** Whether dependents are seen to when their owners are deleted, by this server or another program. */
  readonly collectsGarbage: boolean
  /** Who signs approved requests for certificates, and for how long at most; no pair: the server's own authority. */
  readonly signing: SigningSettings
  /** The loops to run. */
  readonly controllers: readonly ControllerName[]
  /** That this server runs, among the objects. */
  readonly ownLease: { readonly seconds: number; readonly renewMs: number }
  /** 0: any free port. */
  readonly securePort: number
  /** An absolute path; undefined: nothing is written, certificates and credentials live as long as the process. */
  readonly dataDir: string | undefined
  readonly storage: 'lmdb' | 'memory' | 'etcd'
  /** With the storage `etcd`. */
  readonly etcd: EtcdSettings | undefined
  /** Which resources are encrypted in the storage; undefined: none. */
  readonly encryption: EncryptionSettings | undefined
  /** How long the health checks wait for the storage. */
  readonly patience: { readonly healthMs: number; readonly readinessMs: number }
  /** How much history is kept; Infinity keeps all. */
  readonly historyMs: number
  readonly readCacheBytes: number
  readonly eventTtlSeconds: number
  readonly tls: TlsSettings
  readonly serving: ServingSettings
  readonly timeouts: TimeoutSettings
  readonly limits: LimitSettings
  readonly gates: FeatureGates
  /** Names are checked against the catalog by whoever has it: `runtimeConfig.unknownKeys`. */
  readonly runtimeConfig: RuntimeConfig
  /** Bearer tokens of --token-auth-file. */
  readonly tokens: ReadonlyMap<string, User>
  readonly anonymousAuth: boolean
  readonly authorizationModes: readonly AuthorizationMode[]
  readonly authentication: AuthenticationSettings
  readonly authorization: AuthorizationSettings
  readonly admission: AdmissionSettings
  readonly network: NetworkSettings
  readonly aggregation: AggregationSettings
  /** How the agents on nodes are reached. */
  readonly agents: AgentSettings
  /** Undefined: nothing is audited. */
  readonly audit: AuditSettings | undefined
  readonly allowPrivileged: boolean
  readonly profiling: boolean
  readonly metrics: MetricSettings
  readonly logLevel: 'info' | 'debug'
  readonly logFormat: 'json' | 'text'
  /** Where spans of requests go; undefined: there are none. */
  readonly tracing: TracingSettings | undefined
  /** Through which proxies others are reached. */
  readonly egress: EgressSettings
  /** Which requests are in the log. */
  readonly loggedRequests: LoggedRequests
  /** At once, within one deletion of a collection. */
  readonly deletionWorkers: number
  readonly workerThreads: number
  /** Flags that were given and have no effect, as `--name`. */
  readonly flagsWithoutEffect: readonly string[]
  /** Sentences for the operator about what was accepted but is probably not meant. */
  readonly warnings: readonly string[]
}

export interface MetricSettings {
  /** For how long a count of the objects is good, and a size of the store; a size of 0: it is not asked for. */
  readonly countMs: number
  readonly sizeMs: number
  /** Families that are not shown. */
  readonly disabled: ReadonlySet<string>
  /** Values that labels may have, by family and label. */
  readonly allowedLabels: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>
}

export interface EncryptionSettings {
  readonly path: string
  readonly text: string
  readonly rules: EncryptionRules
  /** Whether the file is read again when it changes. */
  readonly reloads: boolean
}

export interface EtcdSettings {
  /** As they were given, possibly with a user and a password: not to be shown. */
  readonly servers: readonly string[]
  /** The same without a user. */
  readonly addresses: readonly string[]
  readonly prefix: string
  readonly tls: EtcdTls
  /** How much longer events may live for the sake of sharing a lease. */
  readonly leaseReuseMs: number
}

export interface ServingSettings {
  /** Certificates for other names than that of `tls`. */
  readonly certificates: readonly NamedCertificateFiles[]
  /** Where certificates that the server makes are kept; undefined: in the data folder. */
  readonly certDir: string | undefined
  /** By which clients reach the server from outside. */
  readonly externalHostname: string | undefined
  /** Regular expressions for the origins of scripts in browsers. */
  readonly corsOrigins: readonly string[]
  /** The value of the Strict-Transport-Security header; undefined: none is sent. */
  readonly strictTransport: string | undefined
  readonly sharesPort: boolean
  /** Whether new requests are answered with 429 while the server shuts down. */
  readonly sendsRetryAfter: boolean
}

export interface NamedCertificateFiles {
  readonly files: CertificateFiles
  /** Host names, or patterns with `*.` in front; none: those of the certificate. */
  readonly names: readonly string[]
}

export interface TlsSettings {
  /** Undefined: the server makes its own certificate. */
  readonly files: CertificateFiles | undefined
  /** PEM, as it was at the start. */
  readonly key: string | undefined
  readonly minVersion: TlsVersion
  readonly ciphers: string | undefined
}

export interface TimeoutSettings {
  readonly requestMs: number
  /** A watch that names no timeout lasts this long at least, and at most twice as long. */
  readonly minWatchMs: number
  readonly shutdownDelayMs: number
  readonly livezGraceMs: number
}

export interface LimitSettings {
  /** 0: no limit. */
  readonly readingInFlight: number
  readonly mutatingInFlight: number
  /** Whether both together are shared out by flow schemas and priority levels. */
  readonly fairness: boolean
  readonly watches: number
  readonly http2Streams: number
  readonly goawayChance: number
}

export interface TracingSettings {
  readonly url: string
  readonly samplingRatePerMillion: number
}

export interface AuthenticationSettings {
  /** PEM. */
  readonly clientCa: string | undefined
  /** Where it is from. */
  readonly clientCaFile: string | undefined
  readonly bootstrapTokens: boolean
  readonly audiences: readonly string[]
  readonly serviceAccounts: ServiceAccountSettings
  readonly oidc: OidcSettings | undefined
  readonly tokenWebhook: (WebhookSettings & { readonly connection: EndpointSettings }) | undefined
  readonly requestHeader: RequestHeaderSettings | undefined
}

export interface ServiceAccountSettings {
  /** The first one signs. */
  readonly issuers: readonly string[]
  /** PEM. */
  readonly signingKey: string | undefined
  readonly keys: readonly string[]
  readonly lookup: boolean
  readonly maxTokenMs: number
  readonly extendTokens: boolean
  readonly jwksUri: string | undefined
}

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** PEM; undefined: the authorities of this machine. */
  readonly ca: string | undefined
  readonly usernameClaim: string
  /** Empty: none. */
  readonly usernamePrefix: string
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string
  readonly requiredClaims: { readonly [claim: string]: string }
  readonly signingAlgorithms: readonly string[]
}

export interface WebhookSettings {
  /** A client configuration. */
  readonly configFile: string
  readonly version: 'v1' | 'v1beta1'
  readonly acceptedTtlMs: number
  readonly refusedTtlMs: number
}

export interface RequestHeaderSettings {
  /** PEM. */
  readonly ca: string
  readonly caFile: string
  /** Empty: any. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

export interface AuthorizationSettings {
  /** Of ABAC. */
  readonly policies: readonly Policy[]
  readonly webhook: (WebhookSettings & { readonly connection: EndpointSettings }) | undefined
}

export interface AdmissionSettings {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
  readonly config: AdmissionConfig
  /** As whom hooks are called. */
  readonly hookCredentials: { readonly mutating: FindCredentials; readonly validating: FindCredentials }
  /** For development: hooks on this machine may be asked without TLS. */
  readonly allowsPlainHooks: boolean
  /** For development: how many reviews that hooks were sent are kept. */
  readonly recordedReviews: number
  /** Who is asked about images; undefined: nobody. */
  readonly imagePolicy: EndpointSettings | undefined
  readonly notReadyTolerationSeconds: number
  readonly unreachableTolerationSeconds: number
}

export interface NetworkSettings {
  /** One or two, such as `10.0.0.0/24`. */
  readonly serviceRanges: readonly string[]
  readonly nodePorts: { readonly first: number; readonly last: number }
}

export interface AggregationSettings {
  /** What is shown to other servers; undefined: nothing, and they believe nothing. */
  readonly clientFiles: CertificateFiles | undefined
  /** Straight to endpoints, and not to the address of a service. */
  readonly toEndpoints: boolean
  readonly rejectsRedirects: boolean
}

export interface AgentSettings {
  /** PEM; undefined: their certificates are not checked. */
  readonly ca: string | undefined
  /** What is shown to them; undefined: nothing. */
  readonly clientFiles: CertificateFiles | undefined
  /** Which addresses of a node are tried, in this order. */
  readonly addressTypes: readonly string[]
  readonly connectMs: number
  /** Of each connection that is passed through in another protocol; undefined: any number. */
  readonly bytesPerSecond: number | undefined
}

export interface AuditSettings {
  readonly policy: AuditPolicy
  /** Of events. */
  readonly apiVersion: string
  readonly log: (DeliverySettings & { readonly file: Rotation; readonly format: 'json' | 'legacy' }) | undefined
  readonly webhook: (DeliverySettings & { readonly connection: EndpointSettings; readonly initialBackoffMs: number }) | undefined
}

/** How events get to where they are kept. */
export interface DeliverySettings {
  readonly mode: AuditMode
  /** Counts in the mode `batch`. */
  readonly batching: Batching
  /** Undefined: events may be of any size. */
  readonly truncation: Truncation | undefined
}

/** Who signs certificates for others, and for how long at most. */
export interface SigningSettings {
  /** Signers without one do not sign; undefined: the operator named none at all. */
  readonly pairs:
    | { readonly client: KeyPair | undefined; readonly nodeClient: KeyPair | undefined; readonly nodeServing: KeyPair | undefined }
    | undefined
  readonly seconds: number
}
