// The rules of a service's cluster addresses and families, which must agree with each other before anything is allocated.

import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkOptionalChoice, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { ipAddress } from '../../api/validation/ip.js'
import { familyOf } from '../../api/validation/ip-text.js'
import { headless, isHeadless, needsAddress } from './service-needs.js'
import type { Service, ServiceSpec } from './v1.schema.js'

const families = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const addressesField = 'spec.clusterIPs'
const familiesField = 'spec.ipFamilies'
const policyField = 'spec.ipFamilyPolicy'
const maxAddresses = 2

/** Services that only stand for another name have none of these, which is said elsewhere. */
export function validateAddresses(spec: ServiceSpec): readonly FieldError[] {
  if (!needsAddress(spec)) return noErrors
  const addresses = spec.clusterIPs ?? []
  const single = joined(
    validateLink(spec, addresses),
    validateFamilies(spec.ipFamilies),
    checkOptionalChoice(spec.ipFamilyPolicy, policyField, familyPolicies),
    validateEachAddress(addresses),
    addresses.length > maxAddresses ? [invalid(addressesField, addresses, 'may only hold up to 2 values')] : noErrors,
  )
  // An address that is none would make every comparison a riddle.
  return hasInvalidAddress(addresses) ? single : joined(single, validateStacks(addresses), validateAgreement(spec, addresses))
}

/** The singular field repeats the first of the plural one. */
function validateLink({ clusterIP = '' }: ServiceSpec, addresses: readonly string[]): readonly FieldError[] {
  if (clusterIP === '') {
    return addresses.length === 0 ? noErrors : [invalid(addressesField, addresses, 'must be empty when `clusterIP` is not specified')]
  }
  if (addresses.length === 0) return [required(addressesField)]
  return addresses[0] === clusterIP ? noErrors : [invalid(addressesField, addresses, 'first value must match `clusterIP`')]
}

function validateFamilies(given: readonly string[] | undefined): readonly FieldError[] {
  return checkEach(given, familiesField, (family, at, i) =>
    joined(
      families.includes(family) ? noErrors : [notSupported(at, family, families)],
      given?.indexOf(family) === i ? noErrors : [duplicate(at, family)],
    ),
  )
}

const validateEachAddress = (addresses: readonly string[]): readonly FieldError[] =>
  checkEach(addresses, addressesField, (address, at, i) => {
    if (i !== 0 || address !== headless) return checkText(address, at, ipAddress)
    return addresses.length === 1 ? noErrors : [invalid(addressesField, addresses, "'None' must be the first and only value")]
  })

const hasInvalidAddress = (addresses: readonly string[]): boolean =>
  addresses.some((address, i) => (i === 0 && address === headless ? addresses.length > 1 : familyOf(address) === undefined))

function validateStacks(addresses: readonly string[]): readonly FieldError[] {
  if (addresses.length < 2 || new Set(addresses.map(familyOf)).size === 2) return noErrors
  return [invalid(addressesField, addresses, 'may specify no more than one IP for each IP family')]
}

function validateAgreement(spec: ServiceSpec, addresses: readonly string[]): readonly FieldError[] {
  const given = spec.ipFamilies ?? []
  if (isHeadless(spec) || given.length === 0) return noErrors
  return checkEach(addresses, addressesField, (address, at, i) => {
    const family = given[i]
    if (family === undefined || !families.includes(family) || family === familyOf(address)) return noErrors
    return [invalid(at, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)]
  })
}

const unchangeable = 'may not change once set'

/** Addresses and families may be added and taken away at the end, but the first of each stays; only another name makes all of them go. */
export function validateAddressChange({ spec: next = {} }: Service, { spec: old = {} }: Service): readonly FieldError[] {
  if (!needsAddress(next) || !needsAddress(old) || (isHeadless(next) && isHeadless(old))) return noErrors
  // Where addresses come or go altogether, the families go with them.
  const families = isHeadless(next) === isHeadless(old) ? validateFamilyListChange(next, old) : noErrors
  return joined(validateAddressListChange(next, old), families)
}

function validateAddressListChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const [after, before] = [next.clusterIPs ?? [], old.clusterIPs ?? []]
  const first = `${addressesField}[0]`
  if (after.length === before.length) {
    return checkEach(before, addressesField, (address, at, i) => (address === after[i] ? noErrors : [invalid(at, after, unchangeable)]))
  }
  const isFirstChanged = before.length > 0 && after.length > 0 && after[0] !== before[0]
  return joined(
    after.length === 0 ? [invalid(first, after, 'primary clusterIP can not be unset')] : noErrors,
    isFirstChanged ? [invalid(first, after, unchangeable)] : noErrors,
    after.length === 1 && before.length > 1 ? validateRelease(next, 'clusterIP') : noErrors,
  )
}

function validateFamilyListChange(next: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const [after, before] = [next.ipFamilies ?? [], old.ipFamilies ?? []]
  const first = `${familiesField}[0]`
  if (after.length === before.length) {
    const changed = before.filter((family, i) => family !== after[i])
    return changed.map(() => invalid(first, after, unchangeable))
  }
  const isFirstChanged = before.length > 0 && after.length > 0 && after[0] !== before[0]
  const isReleased = before.length > after.length
  return joined(
    isReleased && (next.clusterIPs ?? []).length === 0 ? [invalid(first, after, 'primary ipFamily can not be unset')] : noErrors,
    isFirstChanged ? [invalid(first, after, unchangeable)] : noErrors,
    isReleased && after.length === 1 ? validateRelease(next, 'ipFamily') : noErrors,
  )
}

const validateRelease = ({ ipFamilyPolicy }: ServiceSpec, what: string): readonly FieldError[] =>
  ipFamilyPolicy === 'SingleStack'
    ? noErrors
    : [invalid(policyField, ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`)]
