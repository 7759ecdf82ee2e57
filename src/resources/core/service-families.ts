// The families of a service's addresses, settled from what it says, what it had, and what this cluster has to give.

import { type FieldError, invalid } from '../../api/field-error.js'
import { familyOf, type IpFamily } from '../../api/validation/ip-text.js'
import { sameValue } from '../../api/validation/same-value.js'
import { validateAddresses } from './service-address-rules.js'
import { headless, needsAddress } from './service-needs.js'
import type { ServiceSpec } from './v1.schema.js'

export interface Settled {
  readonly spec: ServiceSpec
  /** Where there are any, the spec is of no use. */
  readonly errors: readonly FieldError[]
}

const single = 'SingleStack'
const preferDual = 'PreferDualStack'
const requireDual = 'RequireDualStack'
const policyField = 'spec.ipFamilyPolicy'

/** `available` are the families of the cluster, the default one first. */
export function settleFamilies(next: ServiceSpec, old: ServiceSpec | undefined, available: readonly IpFamily[]): Settled {
  if (!needsAddress(next) || keepsStacks(next, old)) return { spec: next, errors: [] }
  const withPolicy = { ...next, ipFamilyPolicy: next.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? defaultPolicy(next) }
  const loose = validateAddresses(withPolicy)
  if (loose.length > 0) return { spec: withPolicy, errors: loose }
  const trimmed = old !== undefined && withPolicy.ipFamilyPolicy === single ? withoutSecond(withPolicy, old) : withPolicy
  const inferred = withFamiliesOfAddresses(trimmed, available)
  const errors = [...validateReduction(withPolicy, old), ...validatePolicy(trimmed), ...inferred.errors]
  if (errors.length > 0) return { spec: inferred.spec, errors }
  return isWithoutSelector(next) ? { spec: completeHeadless(inferred.spec, available), errors } : complete(inferred.spec, available)
}

/** A service that would take two addresses keeps the number it has, whatever became of the cluster, unless it asks for a change. */
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

/** Whether nobody but its owner knows what is behind the service. */
const isWithoutSelector = ({ clusterIP, selector }: ServiceSpec): boolean =>
  clusterIP === headless && Object.keys(selector ?? {}).length === 0

const defaultPolicy = (spec: ServiceSpec): string => (isWithoutSelector(spec) ? requireDual : single)

/** To ask for a single stack, and for nothing else, is to give the second address back. */
function withoutSecond(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const { clusterIPs = [], ipFamilies = [] } = next
  const addresses = sameAddresses(next, old) && clusterIPs.length > 1 ? { clusterIPs: clusterIPs.slice(0, 1) } : {}
  const families = sameFamilies(next, old) && ipFamilies.length > 1 ? { ipFamilies: ipFamilies.slice(0, 1) } : {}
  return { ...next, ...addresses, ...families }
}

/** Fewer addresses or families without saying so are a mistake rather than a wish. */
function validateReduction(next: ServiceSpec, old: ServiceSpec | undefined): readonly FieldError[] {
  if (old === undefined || next.ipFamilyPolicy === single) return []
  const isReduced = (name: 'clusterIPs' | 'ipFamilies'): boolean => {
    const [after, before] = [next[name] ?? [], old[name] ?? []]
    // None at all means that they are to be chosen anew.
    return after.length > 0 && after.length < before.length
  }
  const refuse = (what: string): FieldError =>
    invalid(policyField, next.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)
  return [...(isReduced('clusterIPs') ? [refuse('cluster IP')] : []), ...(isReduced('ipFamilies') ? [refuse('IP family')] : [])]
}

function validatePolicy({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): readonly FieldError[] {
  if (ipFamilyPolicy !== single) return []
  const refuse = (what: string): FieldError =>
    invalid(policyField, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`)
  return [...(clusterIPs.length === 2 ? [refuse('cluster IPs')] : []), ...(ipFamilies.length === 2 ? [refuse('IP families')] : [])]
}

/** An address tells its family where the families are not given. */
function withFamiliesOfAddresses(spec: ServiceSpec, available: readonly IpFamily[]): Settled {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (clusterIPs[0] === headless || clusterIPs.length <= ipFamilies.length) return { spec, errors: [] }
  const told = clusterIPs.map((address) => familyOf(address))
  const errors = told.flatMap((family, i) =>
    i < ipFamilies.length || family === undefined || available.includes(family)
      ? []
      : [invalid(`spec.clusterIPs[${i}]`, clusterIPs, `${family} is not configured on this cluster`)],
  )
  return {
    spec: { ...spec, ipFamilies: [...ipFamilies, ...told.slice(ipFamilies.length).filter((family) => family !== undefined)] },
    errors,
  }
}

const otherFamily = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

const withSecond = (families: readonly string[]): readonly string[] => [...families, otherFamily(families[0])]

/** Endpoints that are written by hand may be of families that the cluster itself does not have. */
function completeHeadless(spec: ServiceSpec, available: readonly IpFamily[]): ServiceSpec {
  const families = (spec.ipFamilies ?? []).length === 0 ? available.slice(0, 1) : (spec.ipFamilies ?? [])
  return { ...spec, ipFamilies: families.length < 2 && spec.ipFamilyPolicy !== single ? withSecond(families) : families }
}

function complete(spec: ServiceSpec, available: readonly IpFamily[]): Settled {
  const { ipFamilyPolicy, ipFamilies = [] } = spec
  const isImpossible = ipFamilyPolicy === requireDual && available.length < 2
  const errors = [
    ...(isImpossible ? [invalid(policyField, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')] : []),
    ...ipFamilies.flatMap((family, i) =>
      available.includes(family as IpFamily) ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ]
  const families = ipFamilies.length === 0 ? available.slice(0, 1) : ipFamilies
  const isShort = ipFamilyPolicy !== single && families.length === 1 && available.length === 2
  return { spec: { ...spec, ipFamilies: isShort ? withSecond(families) : families }, errors }
}
