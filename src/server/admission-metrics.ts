// What /metrics tells of admission: plugins, the two steps, and hooks.

import type { AdmissionTallies, TalliedDurations } from '../admission/admission-tallies.js'
import type { PolicyTallies } from '../admission/policy/policy-tallies.js'
import type { Counted, HookTallies } from '../admission/webhooks/hook-tallies.js'
import type { Identity } from '../api/identity.js'
import type { Histogram } from '../base/histogram.js'
import type { Family } from '../http/metrics/exposition.js'
import type { Outbound } from './outbound.js'

export function admissionFamilies(tallies: AdmissionTallies): readonly Family[] {
  const inWords = ({ operation, rejected, type }: TalliedDurations): readonly string[] => [operation, String(rejected), type]
  const labels = ['operation', 'rejected', 'type']
  return [
    {
      name: 'apiserver_admission_controller_admission_duration_seconds',
      type: 'histogram',
      help: 'How long each admission plugin took, by name and step, and whether it refused.',
      labels: ['name', ...labels],
      rows: Array.from(tallies.plugins(), (tallied) => ({ labels: [tallied.name, ...inWords(tallied)], value: tallied.durations })),
    },
    {
      name: 'apiserver_admission_step_admission_duration_seconds',
      type: 'histogram',
      help: 'How long all plugins of a step took together, and whether one of them refused.',
      labels,
      rows: Array.from(tallies.wholeSteps(), (tallied) => ({ labels: inWords(tallied), value: tallied.durations })),
    },
    ...policyFamilies(tallies.policies),
  ]
}

/** None where there was never a policy. */
function policyFamilies(tallies: PolicyTallies): readonly Family[] {
  if (tallies.definitions === 0) return []
  const name = (part: string): string => `apiserver_validating_admission_policy_${part}`
  const labels = ['enforcement_action', 'policy', 'policy_binding', 'state']
  const checks = Array.from(tallies.checks(), ({ policy, binding, action, durations }) => ({
    labels: [action, policy, binding, 'active'],
    durations,
  }))
  const total = ({ counts }: Histogram): number => counts.reduce((sum, count) => sum + count, 0)
  return [
    {
      name: name('definition_total'),
      type: 'counter',
      help: 'Policies that were seen, by whether they are in force and what they do.',
      labels: ['enforcement_action', 'state'],
      rows: [{ labels: ['deny', 'active'], value: tallies.definitions }],
    },
    {
      name: name('check_total'),
      type: 'counter',
      help: 'Expressions of policies that refused, or that failed and let pass.',
      labels,
      rows: checks.map((check) => ({ labels: check.labels, value: total(check.durations) })),
    },
    {
      name: name('check_duration_seconds'),
      type: 'histogram',
      help: 'How long those expressions took.',
      labels,
      rows: checks.map((check) => ({ labels: check.labels, value: check.durations })),
    },
  ]
}

const counter = (name: string, help: string, labels: readonly string[], rows: Iterable<Counted>): Family => ({
  name,
  type: 'counter',
  help,
  labels,
  rows: Array.from(rows, (row) => ({ labels: row.labels, value: row.count })),
})

/** What servers show of themselves that nobody should any more. */
export const certificateFamilies = ({ webhooks, extensions }: Outbound, identity: Identity): readonly Family[] =>
  [
    ['apiserver_webhooks', 'webhooks', webhooks] as const,
    [`apiserver_${identity.prefixed('aggregator').replaceAll('-', '_')}`, 'extension servers', extensions] as const,
  ].flatMap(([name, who, { lackedNames, wereSha1 }]) => [
    plain(
      `${name}_x509_insecure_sha1_total`,
      `Answers of ${who}, or failures to ask them, with a certificate that was signed with SHA-1.`,
      wereSha1,
    ),
    plain(
      `${name}_x509_missing_san_total`,
      `Answers of ${who}, or failures to ask them, with a certificate that has no names but the common one.`,
      lackedNames,
    ),
  ])

const plain = (name: string, help: string, value: number): Family => ({
  name,
  type: 'counter',
  help,
  labels: [],
  rows: [{ labels: [], value }],
})

export const hookFamilies = (tallies: HookTallies): readonly Family[] => [
  {
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    type: 'histogram',
    help: 'How long each admission webhook took, by name and step, and whether the request was refused for it.',
    labels: ['name', 'operation', 'rejected', 'type'],
    rows: Array.from(tallies.durations(), ({ labels, durations }) => ({ labels, value: durations })),
  },
  counter(
    'apiserver_admission_webhook_fail_open_count',
    'Requests that went on though a webhook could not be asked.',
    ['name', 'type'],
    tallies.opened(),
  ),
  counter(
    'apiserver_admission_webhook_rejection_count',
    'Requests that were refused for a webhook: because it said no, or because it could not be asked.',
    ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    tallies.rejections(),
  ),
  counter(
    'apiserver_admission_webhook_request_total',
    'Requests to webhooks, by the status of their answers.',
    ['code', 'name', 'operation', 'rejected', 'type'],
    tallies.requests(),
  ),
]
