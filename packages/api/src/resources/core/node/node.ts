// Node: validation of taints, pod CIDRs and dynamic kubelet configuration, printer columns.

import { defineResource, type RuleContext } from '../../../api/definition/resource-definition.js'
import { duplicate, type FieldError, forbidden, internalError, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { checkEach, checkOptional, checkText, dnsSubdomainProblems, joined, noErrors } from '../../../api/validation/checks.js'
import { configKey, dnsLabel, dnsSubdomain, labelValue, qualifiedName, type TextRule } from '../../../api/validation/name-formats.js'
import { parseCidr } from '../../../api/validation/network/cidr.js'
import { sortTexts } from '../../../base/text-order.js'
import { list } from '../../../schema/node.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { statusSubresource } from '../../status-subresource.js'
import { readTypedJson } from '../json-text.js'
import { checkResourceAmount, roundedResources } from '../pod-spec/resource-requirements.js'
import { withChanged } from '../pod-spec/visit-containers.js'
import { proxySubresource } from '../service/service-endpoint-address.js'
import {
  type AvoidPods,
  avoidPods,
  type ConfigMapNodeConfigSource,
  type Node,
  type NodeConfigSource,
  type NodeConfigStatus,
  type NodeSpec,
  type NodeStatus,
  nodeProxyOptions,
  node as schema,
  type Taint,
  taint as taintSchema,
} from '../v1.schema.js'

/** spec.configSource must not have a uid or resourceVersion; status.config must. */
const validateConfigSource = (source: NodeConfigSource, field: string): readonly FieldError[] =>
  validateConfigMap(source, field, (map, at) =>
    joined(
      (map.uid ?? '') === '' ? noErrors : [forbidden(`${at}.uid`, 'uid must not be set in spec')],
      (map.resourceVersion ?? '') === '' ? noErrors : [forbidden(`${at}.resourceVersion`, 'resourceVersion must not be set in spec')],
      validateReference(map, at),
    ),
  )

const validateConfigStatus = ({ assigned, active, lastKnownGood }: NodeConfigStatus, field: string): readonly FieldError[] =>
  joined(
    checkOptional(assigned, `${field}.assigned`, validateReportedConfig),
    checkOptional(active, `${field}.active`, validateReportedConfig),
    checkOptional(lastKnownGood, `${field}.lastKnownGood`, validateReportedConfig),
  )

const validateReportedConfig = (source: NodeConfigSource, field: string): readonly FieldError[] =>
  validateConfigMap(source, field, (map, at) =>
    joined(
      (map.uid ?? '') === '' ? [required(`${at}.uid`, 'uid must be set in status')] : noErrors,
      (map.resourceVersion ?? '') === '' ? [required(`${at}.resourceVersion`, 'resourceVersion must be set in status')] : noErrors,
      validateReference(map, at),
    ),
  )

type ConfigMapRule = (map: ConfigMapNodeConfigSource, field: string) => readonly FieldError[]

const validateConfigMap = (source: NodeConfigSource, field: string, rule: ConfigMapRule): readonly FieldError[] =>
  source.configMap === undefined
    ? [invalid(field, source, 'exactly one reference subfield must be non-nil')]
    : rule(source.configMap, `${field}.configMap`)

function validateReference(map: ConfigMapNodeConfigSource, field: string): readonly FieldError[] {
  const check = (name: 'namespace' | 'name' | 'kubeletConfigKey', rule: TextRule): readonly FieldError[] => {
    const value = map[name] ?? ''
    return value === '' ? [required(`${field}.${name}`, `${name} must be set`)] : checkText(value, `${field}.${name}`, rule)
  }
  return joined(check('namespace', dnsLabel), check('name', dnsSubdomain), check('kubeletConfigKey', configKey))
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

const validateNode = (node: Node, { identity }: RuleContext): readonly FieldError[] =>
  joined(
    validateDeprecatedAnnotations(node, identity),
    validateTaints(node.spec?.taints, 'metadata.taints'),
    validateResources(node, identity),
    validateRanges(node.spec?.podCIDRs ?? []),
  )

function validateTaints(taints: readonly Taint[] | undefined, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(taints, field, (taint, at) => {
    const { key = '', value = '', effect = '' } = taint
    const id = `${effect} ${key}`
    const isRepeated = seen.has(id)
    seen.add(id)
    const valueProblems = labelValue(value)
    return joined(
      checkText(key, `${at}.key`, qualifiedName),
      valueProblems.length === 0 ? noErrors : [invalid(`${at}.value`, value, valueProblems.join(';'))],
      effect === '' ? [required(`${at}.effect`)] : effects.includes(effect) ? noErrors : [notSupported(`${at}.effect`, effect, effects)],
      isRepeated ? [repeatedTaint(taint, at)] : noErrors,
    )
  })
}

function repeatedTaint(taint: Taint, field: string): FieldError {
  const error = duplicate(field, taint)
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` }
}

function validateResources({ status }: Node, identity: Identity): readonly FieldError[] {
  const amounts = (list: { readonly [name: string]: string } | undefined, field: string): readonly FieldError[] => {
    let errors = noErrors
    for (const name in list)
      errors = joined(errors, checkResourceAmount({ name, amount: list[name] as string }, `${field}.${name}`, identity))
    return errors
  }
  return joined(amounts(status?.capacity, 'status.capacity'), amounts(status?.allocatable, 'status.allocatable'))
}

function validateRanges(ranges: readonly string[]): readonly FieldError[] {
  if (ranges.length === 0) return noErrors
  const field = 'spec.podCIDRs'
  const families = ranges.map((range) => parseCidr(range)?.family)
  const isOnePerFamily = ranges.length === 1 || (ranges.length === 2 && !families.includes(undefined) && families[0] !== families[1])
  return joined(
    checkEach(ranges, field, (_, at, i) => (families[i] === undefined ? [invalid(at, ranges, 'must be valid CIDR')] : noErrors)),
    ranges.length > 1 && families.includes(undefined) ? [dualStackError(ranges, families.indexOf(undefined), field)] : noErrors,
    isOnePerFamily ? noErrors : [invalid(field, ranges, 'may specify no more than one CIDR for each IP family')],
    checkEach(ranges, field, (range, at, i) => (ranges.indexOf(range) === i ? noErrors : [duplicate(at, range)])),
  )
}

const dualStackError = (ranges: readonly string[], firstInvalid: number, field: string): FieldError => {
  const problem = `invalid CIDR[${firstInvalid}]: invalid CIDR address: ${ranges[firstInvalid] ?? ''}`
  return internalError(field, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`)
}

const setOnce = (name: string): string => `node updates may not change ${name} except from "" to valid`

function validateNodeChange(next: Node, old: Node, { identity }: RuleContext): readonly FieldError[] {
  const [after, before] = [next.spec ?? {}, old.spec ?? {}]
  return joined(
    validateDeprecatedAnnotations(next, identity),
    validateResources(next, identity),
    validateAddresses(next),
    validateRangeChange(after.podCIDRs ?? [], before.podCIDRs ?? []),
    (before.providerID ?? '') !== '' && after.providerID !== before.providerID
      ? [forbidden('spec.providerID', setOnce('providerID'))]
      : noErrors,
    checkOptional(after.configSource, 'spec.configSource', validateConfigSource),
    checkOptional(next.status?.config, 'status.config', validateConfigStatus),
    validateTaints(after.taints, 'metadata.taints'),
    (after.externalID ?? '') === (before.externalID ?? '') ? noErrors : [forbidden('spec.externalID', 'may not be updated')],
  )
}

function validateAddresses({ status }: Node): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(status?.addresses, 'status.addresses', (reported, at) => {
    const id = `${reported.type ?? ''} ${reported.address ?? ''}`
    if (seen.has(id)) return [duplicate(at, reported)]
    seen.add(id)
    return noErrors
  })
}

function validateRangeChange(after: readonly string[], before: readonly string[]): readonly FieldError[] {
  if (before.length === 0) return noErrors
  const error = forbidden('spec.podCIDRs', setOnce('podCIDR'))
  if (after.length !== before.length) return [error]
  const changed = before.filter((range, i) => range !== after[i])
  return changed.length === 0 ? noErrors : changed.map(() => error)
}

/** Deprecated annotations: taints and preferAvoidPods. */
function validateDeprecatedAnnotations({ metadata }: Node, identity: Identity): readonly FieldError[] {
  const taintsKey = identity.label('taints', 'scheduler.alpha')
  const avoidKey = identity.label('preferAvoidPods', 'scheduler.alpha')
  const field = 'metadata.annotations'
  const [taints = '', avoid = ''] = [metadata?.annotations?.[taintsKey], metadata?.annotations?.[avoidKey]]
  return joined(
    taints === '' ? noErrors : validateAnnotatedTaints(taints, field, taintsKey),
    avoid === '' ? noErrors : validatePreferAvoidPods(avoid, field, avoidKey),
  )
}

const taintList = list(taintSchema)

function validateAnnotatedTaints(text: string, field: string, key: string): readonly FieldError[] {
  const { value = [], problem } = readTypedJson<readonly Taint[]>(text, taintList)
  return problem === undefined ? validateTaints(value, `${field}.${key}`) : [invalid(field, key, problem)]
}

function validatePreferAvoidPods(text: string, field: string, key: string): readonly FieldError[] {
  const { value, problem } = readTypedJson<AvoidPods>(text, avoidPods)
  if (problem !== undefined) return [invalid(`${field}.AvoidPods`, key, problem)]
  return checkEach(value?.preferAvoidPods, `${field}.${key}`, ({ podSignature }, at) => {
    const controller = podSignature?.podController
    if (controller === undefined) return [required(`${at}.PodSignature`)]
    if (controller.controller === true) return noErrors
    return [invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')]
  })
}

const unknown = '<unknown>'

function describeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')?.status
  const state = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state
}

/** Roles from node-role labels and from the older single role label. */
function describeRoles({ metadata }: Node, identity: Identity): string {
  const prefix = identity.label('', 'node-role')
  const singleRoleLabel = identity.label('role')
  const roles = Object.entries(metadata?.labels ?? {}).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : key === singleRoleLabel ? [value] : [],
  )
  return sortTexts([...new Set(roles)].filter((role) => role !== '')).join(',') || '<none>'
}

const addressOf = ({ status }: Node, type: string): string =>
  status?.addresses?.find((address) => address.type === type)?.address ?? '<none>'

const nodeTable = tableOf<Node>(
  nameColumn,
  textColumn('Status', 'Readiness of the node, and whether scheduling is disabled.', describeStatus),
  textColumn('Roles', 'Roles of the node.', (node, { identity }) => describeRoles(node, identity)),
  ageColumn,
  textColumn('Version', 'Version of the kubelet.', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  textColumn('Internal-IP', 'Internal IP address.', (node) => addressOf(node, 'InternalIP'), 1),
  textColumn('External-IP', 'External IP address of the node.', (node) => addressOf(node, 'ExternalIP'), 1),
  textColumn('OS-Image', 'Operating system.', ({ status }) => status?.nodeInfo?.osImage || unknown, 1),
  textColumn('Kernel-Version', 'Version of the kernel.', ({ status }) => status?.nodeInfo?.kernelVersion || unknown, 1),
  textColumn(
    'Container-Runtime',
    'Container runtime and its version.',
    ({ status }) => status?.nodeInfo?.containerRuntimeVersion || unknown,
    1,
  ),
)

/** podCIDR equals the first of podCIDRs, and wins if they differ. */
function withLinkedRanges(spec: NodeSpec): NodeSpec {
  const { podCIDR = '', podCIDRs = [] } = spec
  const [first = ''] = podCIDRs
  if (first === podCIDR) return spec
  return podCIDR === '' ? { ...spec, podCIDR: first } : { ...spec, podCIDRs: [podCIDR] }
}

/** allocatable defaults to capacity. */
function withStatusDefaults(status: NodeStatus): NodeStatus {
  const { capacity } = status
  const complete = status.allocatable === undefined && capacity !== undefined ? { ...status, allocatable: capacity } : status
  return withChanged(withChanged(complete, 'capacity', roundedResources), 'allocatable', roundedResources)
}

const defaults = (node: Node): Node => withChanged(withChanged(node, 'spec', withLinkedRanges), 'status', withStatusDefaults)

/** Drops dynamic kubelet configuration, unless the old object has it. */
function withoutConfig(next: Node, old: Node | undefined): Node {
  let node = next
  if (node.spec?.configSource !== undefined && old?.spec?.configSource === undefined) {
    const { configSource, ...spec } = node.spec
    node = { ...node, spec }
  }
  if (node.status?.config !== undefined && old?.status?.config === undefined) {
    const { config, ...status } = node.status
    node = { ...node, status }
  }
  return node
}

export const node = defineResource<Node>({
  group: '',
  kind: 'Node',
  resource: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (object) => withoutConfig(object, undefined),
  prepareUpdate: (next, old) => withoutConfig({ ...next, status: old.status ?? {} }, old),
  validate: validateNode,
  validateUpdate: validateNodeChange,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  resetFields: ['status'],
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  subresources: [
    proxySubresource('proxyToNode', nodeProxyOptions),
    statusSubresource<Node>({
      prepareUpdate: (next, old) => withoutConfig({ ...next, spec: old.spec ?? {} }, old),
      validateUpdate: validateNodeChange,
    }),
  ],
  table: nodeTable,
})
