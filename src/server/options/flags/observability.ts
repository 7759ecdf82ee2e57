// Flags about what the server tells its operator: logs, audit, profiles, metrics and traces.

import type { FlagDefinition } from '../flag.js'

export const observabilityFlags = [
  { name: 'v', kind: 'integer', min: 0, default: '0', effect: 'now', help: 'how much is logged: 0 normal, 4 and more debugging' },
  { name: 'vmodule', kind: 'list', effect: 'later', help: 'how much is logged, by file' },
  {
    name: 'logging-format',
    kind: 'choice',
    choices: ['json', 'text'],
    default: 'json',
    effect: 'later',
    help: 'form of log lines; always JSON for now',
  },
  { name: 'log-flush-frequency', kind: 'duration', default: '5s', effect: 'later', help: 'longest time between two writes of the log' },
  { name: 'profiling', kind: 'boolean', default: 'true', effect: 'later', help: 'serve profiles under /debug/pprof' },
  { name: 'contention-profiling', kind: 'boolean', default: 'false', effect: 'later', help: 'profile waiting, too' },
  { name: 'audit-policy-file', kind: 'file', content: 'yaml', effect: 'later', help: 'what is audited' },
  { name: 'audit-log-path', kind: 'text', effect: 'later', help: 'file for audit events; - for standard output' },
  { name: 'audit-log-format', kind: 'choice', choices: ['json', 'legacy'], default: 'json', effect: 'later', help: 'form of audit events' },
  {
    name: 'audit-log-mode',
    kind: 'choice',
    choices: ['batch', 'blocking', 'blocking-strict'],
    default: 'blocking',
    effect: 'later',
    help: 'whether requests wait for the audit log',
  },
  { name: 'audit-log-maxage', kind: 'integer', min: 0, default: '0', effect: 'later', help: 'days that old audit logs are kept' },
  { name: 'audit-log-maxbackup', kind: 'integer', min: 0, default: '0', effect: 'later', help: 'old audit logs that are kept' },
  { name: 'audit-log-maxsize', kind: 'integer', min: 0, default: '0', effect: 'later', help: 'megabytes before an audit log is rotated' },
  { name: 'audit-log-compress', kind: 'boolean', default: 'false', effect: 'later', help: 'compress old audit logs' },
  {
    name: 'audit-webhook-config-file',
    kind: 'file',
    content: 'client-configuration',
    effect: 'later',
    help: 'how to reach the service that collects audit events',
  },
  {
    name: 'audit-webhook-mode',
    kind: 'choice',
    choices: ['batch', 'blocking', 'blocking-strict'],
    default: 'batch',
    effect: 'later',
    help: 'whether requests wait for that service',
  },
  { name: 'tracing-config-file', kind: 'file', content: 'yaml', effect: 'later', help: 'where traces go' },
  { name: 'show-hidden-metrics-for-version', kind: 'text', effect: 'later', help: 'show metrics hidden since that version' },
  { name: 'disabled-metrics', kind: 'list', effect: 'later', help: 'metrics to leave out' },
  { name: 'allow-metric-labels', kind: 'list', effect: 'later', help: 'values that labels of metrics may have' },
] as const satisfies readonly FlagDefinition[]
