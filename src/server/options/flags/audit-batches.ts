// Flags about how audit events are put together on their way: apart from the others because they are many and say little.

import type { FlagDefinition } from '../flag.js'

export const auditBatchFlags = [
  { name: 'audit-log-batch-buffer-size', kind: 'integer', min: 0, default: '10000', effect: 'later', help: 'events that wait to be sent' },
  {
    name: 'audit-webhook-batch-buffer-size',
    kind: 'integer',
    min: 0,
    default: '10000',
    effect: 'later',
    help: 'events that wait to be sent',
  },
  { name: 'audit-log-batch-max-size', kind: 'integer', min: 0, effect: 'later', help: 'events in a batch' },
  { name: 'audit-webhook-batch-max-size', kind: 'integer', min: 0, effect: 'later', help: 'events in a batch' },
  { name: 'audit-log-batch-max-wait', kind: 'duration', effect: 'later', help: 'how long a batch is waited for' },
  { name: 'audit-webhook-batch-max-wait', kind: 'duration', effect: 'later', help: 'how long a batch is waited for' },
  { name: 'audit-log-batch-throttle-burst', kind: 'integer', min: 0, effect: 'later', help: 'batches at once' },
  { name: 'audit-webhook-batch-throttle-burst', kind: 'integer', min: 0, effect: 'later', help: 'batches at once' },
  { name: 'audit-log-batch-throttle-enable', kind: 'boolean', effect: 'later', help: 'limit the number of batches' },
  { name: 'audit-webhook-batch-throttle-enable', kind: 'boolean', effect: 'later', help: 'limit the number of batches' },
  { name: 'audit-log-batch-throttle-qps', kind: 'number', min: 0, effect: 'later', help: 'batches in a second' },
  { name: 'audit-webhook-batch-throttle-qps', kind: 'number', min: 0, effect: 'later', help: 'batches in a second' },
  { name: 'audit-log-truncate-enabled', kind: 'boolean', effect: 'later', help: 'shorten events that are too large' },
  { name: 'audit-webhook-truncate-enabled', kind: 'boolean', effect: 'later', help: 'shorten events that are too large' },
  { name: 'audit-log-truncate-max-batch-size', kind: 'integer', min: 0, default: '10485760', effect: 'later', help: 'bytes of a batch' },
  {
    name: 'audit-webhook-truncate-max-batch-size',
    kind: 'integer',
    min: 0,
    default: '10485760',
    effect: 'later',
    help: 'bytes of a batch',
  },
  { name: 'audit-log-truncate-max-event-size', kind: 'integer', min: 0, default: '102400', effect: 'later', help: 'bytes of an event' },
  { name: 'audit-webhook-truncate-max-event-size', kind: 'integer', min: 0, default: '102400', effect: 'later', help: 'bytes of an event' },
  { name: 'audit-log-version', kind: 'text', effect: 'later', help: 'API version of events' },
  { name: 'audit-webhook-version', kind: 'text', effect: 'later', help: 'API version of events' },
  { name: 'audit-webhook-initial-backoff', kind: 'duration', default: '10s', effect: 'later', help: 'pause before the first retry' },
] as const satisfies readonly FlagDefinition[]
