// NetworkPolicy: peers, ports and policy types. Enforcement is up to the network plugin.

import { asFirstGeneration, asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import {
  checkEach,
  checkOptional,
  checkOptionalChoice,
  checkPort,
  dnsSubdomainProblems,
  joined,
  noErrors,
} from '../../api/validation/checks.js'
import { validateConditions } from '../../api/validation/conditions.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { isStrictSubnet, parseCidr } from '../../api/validation/network/cidr.js'
import { checkPortOrName } from '../../api/validation/network/port-name.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { hasSentEmpty } from '../../schema/json/sent-empty.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { describeSelector } from '../core/workload/workload.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource } from '../status-subresource.js'
import {
  type IPBlock,
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  type NetworkPolicySpec,
  networkPolicySpec,
  networkPolicy as schema,
} from './v1.schema.js'

const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']

const validatePolicySpec = (spec: NetworkPolicySpec, field: string): readonly FieldError[] =>
  joined(
    validateLabelSelector(spec.podSelector, `${field}.podSelector`),
    checkEach(spec.ingress, `${field}.ingress`, ({ ports, from }, at) =>
      joined(checkEach(ports, `${at}.ports`, validatePort), checkEach(from, `${at}.from`, validatePeer)),
    ),
    checkEach(spec.egress, `${field}.egress`, ({ ports, to }, at) =>
      joined(checkEach(ports, `${at}.ports`, validatePort), checkEach(to, `${at}.to`, validatePeer)),
    ),
    validateTypes(spec.policyTypes ?? [], `${field}.policyTypes`),
  )

function validateTypes(types: readonly string[], field: string): readonly FieldError[] {
  if (types.length > policyTypes.length) return [invalid(field, types, 'may not specify more than two policyTypes')]
  return checkEach(types, field, (type, at) => (policyTypes.includes(type) ? noErrors : [notSupported(at, type, policyTypes)]))
}

/** endPort requires a numeric port that is not greater. */
function validatePort({ protocol, port, endPort }: NetworkPolicyPort, field: string): readonly FieldError[] {
  return joined(checkOptionalChoice(protocol, `${field}.protocol`, protocols), validateRange(port, endPort, field))
}

function validateRange(port: number | string | undefined, endPort: number | undefined, field: string): readonly FieldError[] {
  const endField = `${field}.endPort`
  if (port === undefined) {
    return endPort === undefined ? noErrors : [invalid(endField, endPort, 'may not be specified when `port` is not specified')]
  }
  if (typeof port === 'string') {
    const endPortErrors = endPort === undefined ? noErrors : [invalid(endField, endPort, 'may not be specified when `port` is non-numeric')]
    return joined(endPortErrors, checkPortOrName(port, `${field}.port`))
  }
  return joined(
    checkPort(port, `${field}.port`),
    endPort !== undefined && endPort < port ? [invalid(endField, port, 'must be greater than or equal to `port`')] : noErrors,
    endPort === undefined ? noErrors : checkPort(endPort, endField),
  )
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, field: string): readonly FieldError[] {
  const isSelected = podSelector !== undefined || namespaceSelector !== undefined
  return joined(
    validateLabelSelector(podSelector, `${field}.podSelector`),
    validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    checkOptional(ipBlock, `${field}.ipBlock`, validateBlock),
    isSelected || ipBlock !== undefined ? noErrors : [required(field, 'must specify a peer')],
    isSelected && ipBlock !== undefined ? [forbidden(field, 'may not specify both ipBlock and another peer')] : noErrors,
  )
}

function validateBlock({ cidr = '', except = [] }: IPBlock, field: string): readonly FieldError[] {
  if (cidr === '') return [required(`${field}.cidr`)]
  const block = parseCidr(cidr)
  if (block === undefined) return [invalid(`${field}.cidr`, cidr, 'not a valid CIDR')]
  // Exceptions after the first invalid CIDR are not checked.
  const firstInvalid = except.findIndex((range) => parseCidr(range) === undefined)
  const reported = firstInvalid < 0 ? except : except.slice(0, firstInvalid + 1)
  return checkEach(reported, `${field}.except`, (range, at) => {
    const exception = parseCidr(range)
    if (exception === undefined) return [invalid(at, range, 'not a valid CIDR')]
    return isStrictSubnet(exception, block) ? noErrors : [invalid(at, range, 'must be a strict subset of `cidr`')]
  })
}

const statusGate = 'NetworkPolicyStatus'

const withProtocols = (ports: readonly NetworkPolicyPort[]): readonly NetworkPolicyPort[] =>
  mapItems(ports, (port) => withMissing(port, { protocol: 'TCP' }))

function withTypes(spec: NetworkPolicySpec): NetworkPolicySpec {
  if ((spec.policyTypes ?? []).length > 0) return spec
  return { ...spec, policyTypes: (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] }
}

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
  const prepared = keepsStatus ? { ...next, status: old.status ?? {} } : next
  // For the generation, an empty list differs from an absent one.
  const isSame = !hasSentEmpty(next.spec) && sameBySchema(networkPolicySpec, next.spec ?? {}, old.spec ?? {})
  return isSame ? prepared : asNextGeneration(prepared, old)
}

/** Without the feature gate, a status can only be cleared. */
function prepareStatus(next: NetworkPolicy, old: NetworkPolicy, { gates }: RuleContext): NetworkPolicy {
  const prepared = { ...next, spec: old.spec ?? {} }
  if (gates(statusGate)) return prepared
  return { ...prepared, status: (next.status?.conditions ?? []).length === 0 ? {} : (old.status ?? {}) }
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
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validate'] },
  resetFields: ['status'],
  subresources: [
    statusSubresource<NetworkPolicy>({
      hasNoTable: true,
      prepareUpdate: prepareStatus,
      validateUpdate: (next, _old, { gates }) =>
        gates(statusGate) ? validateConditions(next.status?.conditions, 'status.conditions') : [],
    }),
  ],
  table: tableOf<NetworkPolicy>(
    nameColumn,
    textColumn('Pod-Selector', 'Pods of the policy.', ({ spec }) => describeSelector(spec?.podSelector)),
    ageColumn,
  ),
})
