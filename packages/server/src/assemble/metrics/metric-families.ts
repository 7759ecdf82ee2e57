// Metric families of admission, policies, webhooks, outbound certificates, authentication, API aggregation and auditing.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { AdmissionCounters, AdmissionDurations } from '../../admission/admission-counters.js'
import type { PolicyCounters } from '../../admission/validating-admission-policy/policy-counters.js'
import type { CountedRow, WebhookCounters } from '../../admission/webhooks/webhook-counters.js'
import type { AuditCounters } from '../../audit/audit.js'
import type { AuthenticationCounters } from '../../auth/authenticate.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'
import type { Aggregation } from '../create-aggregation.js'
import type { Outbound } from '../outbound.js'
import { type Cells, family, single } from './metric-family.js'

const countOf = ({ counts }: Histogram): number => counts.reduce((sum, count) => sum + count, 0)

export function admissionFamilies(counters: AdmissionCounters): readonly Family[] {
  const cells = ({ operation, rejected, type, durations }: AdmissionDurations): Cells => [operation, String(rejected), type, durations]
  return [
    family(
      'histogram',
      'apiserver_admission_controller_admission_duration_seconds',
      'Duration of admission plugins, by name and step, and whether the plugin rejected the request.',
      'name operation rejected type',
      Array.from(counters.plugins(), (counted) => [counted.name, ...cells(counted)]),
    ),
    family(
      'histogram',
      'apiserver_admission_step_admission_duration_seconds',
      'Duration of admission steps, and whether a plugin rejected the request.',
      'operation rejected type',
      Array.from(counters.wholeSteps(), cells),
    ),
    ...policyFamilies(counters.policies),
  ]
}

function policyFamilies(counters: PolicyCounters): readonly Family[] {
  if (counters.definitions === 0) return []
  const prefix = 'apiserver_validating_admission_policy_'
  const labels = 'enforcement_action policy policy_binding state'
  const checks = Array.from(
    counters.checks(),
    ({ policy, binding, action, durations }) => [action, policy, binding, 'active', durations] as const,
  )
  return [
    family(
      'counter',
      `${prefix}definition_total`,
      'ValidatingAdmissionPolicies, by enforcement action and state.',
      'enforcement_action state',
      [['deny', 'active', counters.definitions]],
    ),
    family(
      'counter',
      `${prefix}check_total`,
      'Evaluated policy expressions that denied a request, or failed and were ignored.',
      labels,
      checks.map(([action, policy, binding, state, durations]) => [action, policy, binding, state, countOf(durations)]),
    ),
    family('histogram', `${prefix}check_duration_seconds`, 'Duration of these policy expressions.', labels, checks),
  ]
}

export const certificateFamilies = ({ webhooks, extensions }: Outbound, identity: Identity): readonly Family[] =>
  [
    ['apiserver_webhooks', 'webhooks', webhooks] as const,
    [`apiserver_${identity.prefixed('aggregator').replaceAll('-', '_')}`, 'extension servers', extensions] as const,
  ].flatMap(([name, servers, { lackedNames, wereSha1 }]) => [
    single(
      'counter',
      `${name}_x509_insecure_sha1_total`,
      `Responses of ${servers} and failed handshakes whose certificate is signed with SHA-1.`,
      wereSha1,
    ),
    single(
      'counter',
      `${name}_x509_missing_san_total`,
      `Responses of ${servers} and failed handshakes whose certificate has no subject alternative names.`,
      lackedNames,
    ),
  ])

export function webhookFamilies(counters: WebhookCounters): readonly Family[] {
  const prefix = 'apiserver_admission_webhook_'
  const counter = (name: string, help: string, labels: string, rows: Iterable<CountedRow>): Family =>
    family(
      'counter',
      `${prefix}${name}`,
      help,
      labels,
      Array.from(rows, (row) => [...row.labels, row.count]),
    )
  return [
    family(
      'histogram',
      `${prefix}admission_duration_seconds`,
      'Duration of admission webhooks, by name and step, and whether the webhook rejected the request.',
      'name operation rejected type',
      Array.from(counters.durations(), ({ labels, durations }) => [...labels, durations]),
    ),
    counter(
      'fail_open_count',
      'Requests that were admitted although a webhook call failed (failurePolicy: Ignore).',
      'name type',
      counters.failOpenCounts(),
    ),
    counter(
      'rejection_count',
      'Requests that were rejected because a webhook denied them or its call failed.',
      'error_type name operation rejection_code type',
      counters.rejections(),
    ),
    counter('request_total', 'Webhook calls, by status code of the response.', 'code name operation rejected type', counters.requests()),
  ]
}

export function authenticationFamilies({ attempts, users, tokens, certificates, accounts }: AuthenticationCounters): readonly Family[] {
  const results = Object.entries(attempts).filter(([, durations]) => durations.changes > 0)
  const { blocked, inFlight, error, ok, hit, miss } = tokens
  const byStatus = (type: Family['type'], name: string, help: string, values: { readonly [status: string]: number | Histogram }): Family =>
    family(type, `authentication_token_cache_${name}`, help, 'status', Object.entries(values))
  return [
    family(
      'counter',
      'authentication_attempts',
      'Authentication attempts, by result.',
      'result',
      results.map(([result, durations]) => [result, countOf(durations)]),
    ),
    family('histogram', 'authentication_duration_seconds', 'Duration of authentication, by result.', 'result', results),
    family('counter', 'authenticated_user_requests', 'Authenticated requests, by user name.', 'username', users),
    byStatus('gauge', 'active_fetch_count', 'Tokens that are being authenticated now, and requests that wait for one of them.', {
      blocked,
      in_flight: inFlight,
    }),
    byStatus('counter', 'fetch_total', 'Tokens that were authenticated without the cache.', { error, ok }),
    byStatus('histogram', 'request_duration_seconds', 'Duration of token authentication, by cache hit or miss.', { hit, miss }),
    byStatus('counter', 'request_total', 'Token authentications, by cache hit or miss.', { hit: countOf(hit), miss: countOf(miss) }),
    single(
      'histogram',
      'apiserver_client_certificate_expiration_seconds',
      'Remaining lifetime of the client certificates of requests.',
      certificates,
    ),
    single(
      'counter',
      'serviceaccount_legacy_tokens_total',
      'Requests with legacy service account tokens, which have no audience.',
      accounts.legacy,
    ),
    single(
      'counter',
      'serviceaccount_stale_tokens_total',
      'Requests with service account tokens that should have been renewed.',
      accounts.stale,
    ),
    single(
      'counter',
      'serviceaccount_valid_tokens_total',
      'Requests with service account tokens that need no renewal yet.',
      accounts.valid,
    ),
  ]
}

export function aggregationFamilies({ services, counters }: Pick<Aggregation, 'services' | 'counters'>): readonly Family[] {
  const { all } = services.current
  const exists = (name: string): boolean => all.has(name)
  return [
    family(
      'gauge',
      'aggregator_unavailable_apiservice',
      '1 if the extension server of an APIService is unavailable.',
      'name',
      Array.from(all.values(), ({ name, isAvailable, remote }) => [name, remote === undefined || isAvailable ? 0 : 1]),
    ),
    family(
      'counter',
      'aggregator_unavailable_apiservice_total',
      'How often an APIService became unavailable, by reason.',
      'name reason',
      counters.timesUnavailable(exists),
    ),
    family(
      'counter',
      'aggregator_openapi_v2_regeneration_count',
      'How often the published OpenAPI spec of an APIService has changed.',
      'apiservice reason',
      counters.regenerations(exists),
    ),
    family(
      'gauge',
      'aggregator_openapi_v2_regeneration_duration',
      'Duration of the last change of a published OpenAPI spec, in seconds.',
      'reason',
      counters.regenerationSeconds,
    ),
  ]
}

export const auditFamilies = ({ events, rejected, levels, errors }: AuditCounters): readonly Family[] => [
  single('counter', 'apiserver_audit_event_total', 'Audit events that were created and sent to the backends.', events),
  single('counter', 'apiserver_audit_requests_rejected_total', 'Requests that were rejected because they could not be audited.', rejected),
  family('counter', 'apiserver_audit_level_total', 'Requests, by audit level.', 'level', levels),
  family('counter', 'apiserver_audit_error_total', 'Audit events that were dropped, by plugin.', 'plugin', errors),
]
