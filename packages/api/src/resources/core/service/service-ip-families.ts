// ipFamilies and ipFamilyPolicy of a Service, from the request, the old object and the families of the cluster.
// Also fills in clusterIPs, and cluster IPs and node ports that an update omits.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { familyOf, type IpFamily } from '../../../api/validation/network/ip-text.js'
import { sameValue } from '../../../api/validation/same-value.js'
import type { ServiceSpec } from '../v1.schema.js'
import { headless, needsAddress, needsHealthPort, usesNodePorts } from './service-type.js'
import { validateAddresses } from './service-validation.js'

interface ResolvedSpec {
  readonly spec: ServiceSpec
  readonly errors: readonly FieldError[]
}

const singleStack = 'SingleStack'
const preferDual = 'PreferDualStack'
const requireDual = 'RequireDualStack'
const policyField = 'spec.ipFamilyPolicy'

/** `available`: IP families of the cluster, the default first. */
export function resolveIpFamilies(next: ServiceSpec, old: ServiceSpec | undefined, available: readonly IpFamily[]): ResolvedSpec {
  if (!needsAddress(next) || keepsStacks(next, old)) return { spec: next, errors: [] }
  const withPolicy = { ...next, ipFamilyPolicy: next.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? defaultPolicy(next) }
  const addressErrors = validateAddresses(withPolicy)
  if (addressErrors.length > 0) return { spec: withPolicy, errors: addressErrors }
  const reduced = old !== undefined && withPolicy.ipFamilyPolicy === singleStack ? withoutSecondStack(withPolicy, old) : withPolicy
  const inferred = withFamiliesOfAddresses(reduced, available)
  const errors = [...validateReduction(withPolicy, old), ...validatePolicy(reduced), ...inferred.errors]
  if (errors.length > 0) return { spec: inferred.spec, errors }
  return isHeadlessWithoutSelector(next)
    ? { spec: withHeadlessFamilies(inferred.spec, available), errors }
    : withAvailableFamilies(inferred.spec, available)
}

/** True if an update of a PreferDualStack Service changes neither type, addresses nor families: it then keeps their number. */
export function keepsStacks(next: ServiceSpec, old: ServiceSpec | undefined): boolean {
  return (
    old !== undefined &&
    next.ipFamilyPolicy === preferDual &&
    (old.ipFamilyPolicy ?? preferDual) === preferDual &&
    next.type === old.type &&
    sameAddresses(next, old) &&
    sameFamilies(next, old)
  )
}

const sameAddresses = (a: ServiceSpec, b: ServiceSpec): boolean =>
  (a.clusterIP ?? '') === (b.clusterIP ?? '') && sameValue(a.clusterIPs ?? [], b.clusterIPs ?? [])
const sameFamilies = (a: ServiceSpec, b: ServiceSpec): boolean => sameValue(a.ipFamilies ?? [], b.ipFamilies ?? [])

const isHeadlessWithoutSelector = ({ clusterIP, selector }: ServiceSpec): boolean =>
  clusterIP === headless && Object.keys(selector ?? {}).length === 0

const defaultPolicy = (spec: ServiceSpec): string => (isHeadlessWithoutSelector(spec) ? requireDual : singleStack)

/** Changing only the policy to SingleStack releases the second address. */
function withoutSecondStack(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const { clusterIPs = [], ipFamilies = [] } = next
  const addresses = sameAddresses(next, old) && clusterIPs.length > 1 ? { clusterIPs: clusterIPs.slice(0, 1) } : {}
  const families = sameFamilies(next, old) && ipFamilies.length > 1 ? { ipFamilies: ipFamilies.slice(0, 1) } : {}
  return { ...next, ...addresses, ...families }
}

/** Removing an address or family requires SingleStack. */
function validateReduction(next: ServiceSpec, old: ServiceSpec | undefined): readonly FieldError[] {
  if (old === undefined || next.ipFamilyPolicy === singleStack) return []
  const isReduced = (name: 'clusterIPs' | 'ipFamilies'): boolean => {
    const [after, before] = [next[name] ?? [], old[name] ?? []]
    // An empty list requests a new allocation.
    return after.length > 0 && after.length < before.length
  }
  const policyError = (noun: string): FieldError =>
    invalid(policyField, next.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${noun}`)
  return [...(isReduced('clusterIPs') ? [policyError('cluster IP')] : []), ...(isReduced('ipFamilies') ? [policyError('IP family')] : [])]
}

function validatePolicy({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): readonly FieldError[] {
  if (ipFamilyPolicy !== singleStack) return []
  const policyError = (noun: string): FieldError =>
    invalid(policyField, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${noun} are specified`)
  return [
    ...(clusterIPs.length === 2 ? [policyError('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [policyError('IP families')] : []),
  ]
}

/** Derives missing families from addresses. */
function withFamiliesOfAddresses(spec: ServiceSpec, available: readonly IpFamily[]): ResolvedSpec {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (clusterIPs[0] === headless || clusterIPs.length <= ipFamilies.length) return { spec, errors: [] }
  const inferred = clusterIPs.map((address) => familyOf(address))
  const errors = inferred.flatMap((family, i) =>
    i < ipFamilies.length || family === undefined || available.includes(family)
      ? []
      : [invalid(`spec.clusterIPs[${i}]`, clusterIPs, `${family} is not configured on this cluster`)],
  )
  return {
    spec: { ...spec, ipFamilies: [...ipFamilies, ...inferred.slice(ipFamilies.length).filter((family) => family !== undefined)] },
    errors,
  }
}

const otherFamily = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

const withSecondFamily = (families: readonly string[]): readonly string[] => [...families, otherFamily(families[0])]

/** Headless Services without a selector may have families that the cluster lacks. */
function withHeadlessFamilies(spec: ServiceSpec, available: readonly IpFamily[]): ServiceSpec {
  const families = (spec.ipFamilies ?? []).length === 0 ? available.slice(0, 1) : (spec.ipFamilies ?? [])
  return { ...spec, ipFamilies: families.length < 2 && spec.ipFamilyPolicy !== singleStack ? withSecondFamily(families) : families }
}

function withAvailableFamilies(spec: ServiceSpec, available: readonly IpFamily[]): ResolvedSpec {
  const { ipFamilyPolicy, ipFamilies = [] } = spec
  const lacksDualStack = ipFamilyPolicy === requireDual && available.length < 2
  const errors = [
    ...(lacksDualStack ? [invalid(policyField, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')] : []),
    ...ipFamilies.flatMap((family, i) =>
      available.includes(family as IpFamily) ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ]
  const families = ipFamilies.length === 0 ? available.slice(0, 1) : ipFamilies
  const lacksSecondFamily = ipFamilyPolicy !== singleStack && families.length === 1 && available.length === 2
  return { spec: { ...spec, ipFamilies: lacksSecondFamily ? withSecondFamily(families) : families }, errors }
}

export const withLinkedFields = (next: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec =>
  old === undefined ? withClusterIps(next) : withFollowingClusterIps(withKeptValues(next, old), old)

/** Old clients send clusterIP without clusterIPs. */
const withClusterIps = (spec: ServiceSpec): ServiceSpec =>
  (spec.clusterIP ?? '') !== '' && (spec.clusterIPs ?? []).length === 0 ? { ...spec, clusterIPs: [spec.clusterIP ?? ''] } : spec

function withKeptValues(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let spec = next
  if (needsAddress(old) && needsAddress(next)) spec = withKeptAddresses(spec, old)
  if (usesNodePorts(old) && usesNodePorts(next)) spec = withKeptNodePorts(spec, old)
  const keepsHealthPort = needsHealthPort(old) && needsHealthPort(next) && (spec.healthCheckNodePort ?? 0) === 0
  return keepsHealthPort && old.healthCheckNodePort !== undefined ? { ...spec, healthCheckNodePort: old.healthCheckNodePort } : spec
}

function withKeptAddresses(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const { clusterIP = '' } = old
  const first = (next.clusterIP ?? '') === '' && clusterIP !== '' ? { ...next, clusterIP } : next
  const isSame = (first.clusterIP ?? '') === clusterIP
  return isSame && (first.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined ? { ...first, clusterIPs: old.clusterIPs } : first
}

/** Keeps node ports by port name; a node port that moved to another name is not used twice. */
function withKeptNodePorts(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  if (!(next.ports ?? []).some(({ nodePort = 0 }) => nodePort === 0)) return next
  const byName = new Map((old.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  const before = new Set(byName.values())
  const taken = new Set((next.ports ?? []).map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0 && before.has(port)))
  const ports = (next.ports ?? []).map((port) => {
    const nodePort = byName.get(port.name ?? '') ?? 0
    if ((port.nodePort ?? 0) !== 0 || nodePort === 0 || taken.has(nodePort)) return port
    taken.add(nodePort)
    return { ...port, nodePort }
  })
  return { ...next, ports }
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i])

/** A change of clusterIP alone also changes clusterIPs; validation rejects the reverse. */
function withFollowingClusterIps(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const [after, before] = [next.clusterIP ?? '', old.clusterIP ?? '']
  if (after === before) {
    const isCleared = (old.clusterIPs ?? []).length > 0 && (next.clusterIPs ?? []).length === 0
    return isCleared && old.clusterIPs !== undefined ? { ...next, clusterIPs: old.clusterIPs } : next
  }
  if (!sameList(next.clusterIPs, old.clusterIPs)) return next
  if (after !== '') return { ...next, clusterIPs: [after] }
  const { clusterIPs, ...rest } = next
  return rest
}
