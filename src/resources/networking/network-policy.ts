// Network policies: which peers pods may talk to. Whether anybody enforces them is not this server's matter.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { validateConditions } from '../../api/validation/conditions.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { hasSentEmpty } from '../../schema/sent-empty.js'
import { describeSelector } from '../core/label-text.js'
import { mapItems } from '../core/pod-spec/all-containers.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validatePolicySpec } from './network-policy-rules.js'
import {
  type NetworkPolicy,
  type NetworkPolicyPort,
  type NetworkPolicySpec,
  networkPolicySpec,
  networkPolicy as schema,
} from './v1.schema.js'

const statusGate = 'NetworkPolicyStatus'

const withProtocols = (ports: readonly NetworkPolicyPort[]): readonly NetworkPolicyPort[] =>
  mapItems(ports, (port) => withMissing(port, { protocol: 'TCP' }))

/** A policy is about what comes in, and about what goes out where it says something of that. */
function withTypes(spec: NetworkPolicySpec): NetworkPolicySpec {
  if ((spec.policyTypes ?? []).length > 0) return spec
  return { ...spec, policyTypes: (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] }
}

/** Ports without a protocol speak TCP. */
const withPortDefaults = (spec: NetworkPolicySpec): NetworkPolicySpec =>
  withChanged(
    withChanged(spec, 'ingress', (rules) => mapItems(rules, (rule) => withChanged(rule, 'ports', withProtocols))),
    'egress',
    (rules) => mapItems(rules, (rule) => withChanged(rule, 'ports', withProtocols)),
  )

function defaults(policy: NetworkPolicy): NetworkPolicy {
  const spec = withTypes(withPortDefaults(policy.spec ?? {}))
  return spec === policy.spec ? policy : { ...policy, spec }
}

function prepareUpdate(next: NetworkPolicy, old: NetworkPolicy, { gates }: RuleContext): NetworkPolicy {
  const keepsStatus = gates(statusGate) || (old.status?.conditions ?? []).length > 0
  const kept = keepsStatus ? { ...next, status: old.status ?? {} } : next
  // Here an empty list is another one than none.
  const isSame = !hasSentEmpty(next.spec) && sameBySchema(networkPolicySpec, next.spec ?? {}, old.spec ?? {})
  return isSame ? kept : asNextGeneration(kept, old)
}

/** As long as nobody can report, a status that is there can only be cleared. */
function prepareStatus(next: NetworkPolicy, old: NetworkPolicy, { gates }: RuleContext): NetworkPolicy {
  const kept = { ...next, spec: old.spec ?? {} }
  if (gates(statusGate)) return kept
  return { ...kept, status: (next.status?.conditions ?? []).length === 0 ? {} : (old.status ?? {}) }
}

export const networkPolicy = defineResource<NetworkPolicy>({
  group: { stem: 'networking' },
  errorGroup: 'extensions',
  kind: 'NetworkPolicy',
  resource: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (policy, { gates }) => asFirstGeneration(gates(statusGate) ? { ...policy, status: {} } : policy),
  prepareUpdate,
  validate: ({ spec }) => validatePolicySpec(spec ?? {}, 'spec'),
  checks: { update: ['metadata', 'own', 'metadataChange', 'own'] },
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareStatus,
      validateUpdate: (next, _old, { gates }) =>
        gates(statusGate) ? validateConditions(next.status?.conditions, 'status.conditions') : [],
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [nameColumn, textColumn('Pod-Selector', 'Pods that the policy is about.'), ageColumn],
    cells: ({ metadata, spec }, { now }) => [
      metadata?.name ?? '',
      describeSelector(spec?.podSelector),
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
