// Flags about how long and how many: time limits of requests, requests at once, and the way down.

import type { FlagDefinition } from '../flag.js'

export const requestFlags = [
  { name: 'request-timeout', kind: 'duration', default: '1m', effect: 'now', help: 'time that a request other than a watch may take' },
  {
    name: 'min-request-timeout',
    kind: 'integer',
    min: 0,
    default: '1800',
    effect: 'now',
    help: 'seconds that a watch without a timeout lasts at least',
  },
  {
    name: 'max-requests-inflight',
    kind: 'integer',
    min: 0,
    default: '400',
    effect: 'now',
    help: 'reading requests at once; 0 for no limit',
  },
  {
    name: 'max-mutating-requests-inflight',
    kind: 'integer',
    min: 0,
    default: '200',
    effect: 'now',
    help: 'writing requests at once; 0 for no limit',
  },
  {
    name: 'max-watches',
    kind: 'integer',
    min: 0,
    default: '100000',
    effect: 'now',
    help: 'watches at once, half of them of one user; 0 for no limit',
  },
  {
    name: 'enable-priority-and-fairness',
    kind: 'boolean',
    default: 'true',
    effect: 'now',
    help: 'share the two limits out by flow schemas and priority levels',
  },
  {
    name: 'livez-grace-period',
    kind: 'duration',
    default: '0s',
    effect: 'now',
    help: 'time after start during which /livez forgives what is not ready',
  },
  {
    name: 'shutdown-delay-duration',
    kind: 'duration',
    default: '0s',
    effect: 'now',
    help: 'time to go on serving, with /readyz failing, before shutting down',
  },
  {
    name: 'shutdown-send-retry-after',
    kind: 'boolean',
    default: 'false',
    effect: 'now',
    help: 'while shutting down, answer new requests with 429 and Retry-After',
  },
  {
    name: 'worker-threads',
    kind: 'integer',
    min: 1,
    default: '2',
    effect: 'now',
    help: 'threads for steps on large bodies and objects: decode, patch, validate, encode',
  },
  {
    name: 'max-connection-bytes-per-sec',
    kind: 'integer',
    min: 0,
    default: '0',
    effect: 'now',
    help: 'limit of bytes a second and direction for each connection that is passed through in another protocol; 0 for none',
  },
] as const satisfies readonly FlagDefinition[]
