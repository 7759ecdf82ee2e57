// The table of all flags of the server, by group.

import { pluginNames } from '../../admission/plugin-table.js'
import { aggregationFlags, apiFlags } from './api.js'
import { authenticationFlags, authorizationFlags, signingFlags } from './authentication.js'
import type { FlagDefinition, FlagGroup, FlagValue } from './flag.js'
import { observabilityFlags } from './observability.js'
import { servingFlags } from './serving.js'
import { storageFlags } from './storage.js'

const admissionFlags = [
  {
    name: 'enable-admission-plugins',
    kind: 'choices',
    choices: pluginNames,
    help: 'admission plugins to enable in addition to the default ones',
  },
  { name: 'disable-admission-plugins', kind: 'choices', choices: pluginNames, help: 'admission plugins to disable' },
  {
    name: 'admission-control',
    kind: 'list',
    refused: 'the order of admission plugins is fixed; use --enable-admission-plugins and --disable-admission-plugins',
    help: 'rejected: the order of admission plugins is fixed',
  },
  {
    name: 'admission-control-config-file',
    kind: 'file',
    content: 'yaml',
    help: 'AdmissionConfiguration: configuration of admission plugins',
  },
  {
    name: 'insecure-loopback-webhooks',
    kind: 'boolean',
    default: 'false',
    help: 'for development: allow admission webhooks without TLS at http://127.0.0.1, http://[::1] and http://localhost',
  },
  {
    name: 'recorded-admission-reviews',
    kind: 'integer',
    min: 0,
    max: 1000,
    default: '0',
    help: 'for development: number of recorded AdmissionReviews, for /debug/admission/reviews and `admission replay`',
  },
  {
    name: 'default-not-ready-toleration-seconds',
    kind: 'integer',
    min: 0,
    default: '300',
    help: 'default toleration of pods for nodes that are not ready, in seconds',
  },
  {
    name: 'default-unreachable-toleration-seconds',
    kind: 'integer',
    min: 0,
    default: '300',
    help: 'default toleration of pods for unreachable nodes, in seconds',
  },
] as const satisfies readonly FlagDefinition[]

const requestFlags = [
  { name: 'request-timeout', kind: 'duration', default: '1m', help: 'timeout of requests other than watches' },
  {
    name: 'min-request-timeout',
    kind: 'integer',
    min: 0,
    default: '1800',
    help: 'minimum duration of watches without a timeout, in seconds',
  },
  {
    name: 'max-requests-inflight',
    kind: 'integer',
    min: 0,
    default: '400',
    help: 'maximum number of concurrent read-only requests; 0 for no limit',
  },
  {
    name: 'max-mutating-requests-inflight',
    kind: 'integer',
    min: 0,
    default: '200',
    help: 'maximum number of concurrent mutating requests; 0 for no limit',
  },
  {
    name: 'max-watches',
    kind: 'integer',
    min: 0,
    default: '100000',
    help: 'maximum number of open watches; one user may open half of them; 0 for no limit',
  },
  {
    name: 'enable-priority-and-fairness',
    kind: 'boolean',
    default: 'true',
    help: 'divide both limits by flow schemas and priority levels',
  },
  {
    name: 'livez-grace-period',
    kind: 'duration',
    default: '0s',
    help: 'time after the start in which /livez ignores checks that have not succeeded yet',
  },
  {
    name: 'shutdown-delay-duration',
    kind: 'duration',
    default: '0s',
    help: 'graceful shutdown: time to keep serving with a failing /readyz',
  },
  {
    name: 'shutdown-send-retry-after',
    kind: 'boolean',
    default: 'false',
    help: 'during shutdown, respond to new requests with 429 and Retry-After',
  },
  {
    name: 'worker-threads',
    kind: 'integer',
    min: 1,
    default: '2',
    help: 'number of worker threads, which process large request bodies and objects',
  },
  {
    name: 'max-connection-bytes-per-sec',
    kind: 'integer',
    min: 0,
    default: '0',
    help: 'bytes per second and direction of each upgraded proxy connection (exec, port-forward); 0 for no limit',
  },
] as const satisfies readonly FlagDefinition[]

const generalFlags = [
  {
    name: 'testkit',
    kind: 'boolean',
    default: 'false',
    help: 'for tests: serve the test kit (faults, clock, request log, snapshots) under /testkit/, with a token of its own',
  },
  {
    name: 'testkit-token-file',
    kind: 'file',
    content: 'secret',
    help: 'file with the token of --testkit; testkit.token in the data folder, generated if missing, if unset',
  },
  { name: 'help', kind: 'boolean', default: 'false', help: 'print this help and exit' },
  { name: 'version', kind: 'boolean', default: 'false', help: 'print the version, commit and Node.js version, and exit' },
] as const satisfies readonly FlagDefinition[]

export const flagGroups = [
  { title: 'Serving', flags: servingFlags },
  { title: 'Storage', flags: storageFlags },
  { title: 'API', flags: apiFlags },
  { title: 'Aggregation layer', flags: aggregationFlags },
  { title: 'Requests and shutdown', flags: requestFlags },
  { title: 'Authentication', flags: authenticationFlags },
  { title: 'Certificate signing', flags: signingFlags },
  { title: 'Authorization', flags: authorizationFlags },
  { title: 'Admission', flags: admissionFlags },
  { title: 'Logs, audit, metrics, tracing', flags: observabilityFlags },
  { title: 'General', flags: generalFlags },
] as const satisfies readonly FlagGroup[]

type Flag = (typeof flagGroups)[number]['flags'][number]

export type FlagName = Flag['name']

export const allFlags: readonly FlagDefinition[] = flagGroups.flatMap((group): readonly FlagDefinition[] => group.flags)

export type FlagValues = { readonly [F in Flag as F['name']]: FlagValue<F> }
