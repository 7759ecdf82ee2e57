// Validation of resource requests, limits and claims of containers, resource names and rounding of quantities.

import { duplicate, type FieldError, forbidden, invalid, notFound, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { checkEach, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { qualifiedName } from '../../../api/validation/name-formats.js'
import { own } from '../../../base/own-property.js'
import { sortTexts } from '../../../base/text-order.js'
import {
  compareQuantities,
  isZeroQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityValue,
  roundUpQuantity,
} from '../../../schema/quantity.js'
import type { ResourceRequirements } from '../v1.schema.js'
import type { PodRules } from './pod-names.js'
import { labelDomain } from './pod-names.js'

export const isNegative = (text: string | undefined): boolean => text?.startsWith('-') === true && !isZeroQuantity(parseQuantity(text))

export const checkQuantityNotNegative = (text: string, field: string): readonly FieldError[] =>
  isNegative(text) ? [invalid(field, text, 'must be greater than or equal to 0')] : noErrors

export const checkQuantityPositive = (text: string, field: string): readonly FieldError[] =>
  isNegative(text) || isZeroQuantity(parseQuantity(text)) ? [invalid(field, text, 'must be greater than zero')] : noErrors

export const isWhole = (quantity: Quantity): boolean => roundUpQuantity(quantity, 0) === quantity || isWholeAmount(quantity)

const maxInt64 = 2n ** 63n - 1n

/** True if the quantity, or with `thousandths` its number of thousandths, is at most the maximum of int64. */
export const isCountable = (quantity: Quantity, thousandths: boolean): boolean =>
  quantityValue(quantity) * (thousandths ? 1000n : 1n) <= maxInt64

function isWholeAmount({ unscaled, exponent }: Quantity): boolean {
  return exponent >= 0 || unscaled % 10n ** BigInt(-exponent) === 0n
}

const milliExponent = -3
/** Matches most quantities that need no rounding. */
const unroundedQuantity = /^[+-]?[0-9]+(?:[mkMGTPE]|[KMGTPE]i)?$/

type ResourceList = { readonly [name: string]: string }

/** Rounds quantities up to thousandths. Returns the same list if nothing changes. */
export function roundedResources(list: ResourceList): ResourceList {
  let rounded: Record<string, string> | undefined
  for (const name in list) {
    const text = list[name] as string
    if (unroundedQuantity.test(text)) continue
    const quantity = parseQuantity(text)
    const roundedUp = roundUpQuantity(quantity, milliExponent)
    if (roundedUp === quantity) continue
    rounded ??= { ...list }
    rounded[name] = printQuantity(roundedUp)
  }
  return rounded ?? list
}

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const countedObjects = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const integerResources = new Set(countedObjects)
const standardResources = new Set([
  ...containerResources,
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...countedObjects,
  'storage',
  'requests.storage',
])

const hugePagesPrefix = 'hugepages-'
const requestsPrefix = 'requests.'

export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix)

/** True for names without a domain or in the system's domain. */
export const isNative = (name: string, identity: Identity): boolean => !name.includes('/') || name.includes(`${labelDomain(identity)}/`)

export const isExtended = (name: string, identity: Identity): boolean =>
  !isNative(name, identity) && !name.startsWith(requestsPrefix) && qualifiedName(`${requestsPrefix}${name}`).length === 0

/** False for huge pages and extended resources. */
export const canOvercommit = (name: string, identity: Identity): boolean => isNative(name, identity) && !isHugePages(name)

const isStandard = (name: string): boolean =>
  standardResources.has(name) || isHugePages(name) || name.startsWith(`${requestsPrefix}${hugePagesPrefix}`)

export function checkResourceName(name: string, field: string): readonly FieldError[] {
  const errors = checkText(name, field, qualifiedName)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [invalid(field, name, 'must be a standard resource type or fully qualified')]
}

export function checkContainerResourceName(name: string, field: string, identity: Identity): readonly FieldError[] {
  if (containerResources.has(name)) return noErrors
  const errors = checkResourceName(name, field)
  if (!name.includes('/')) {
    return isHugePages(name) ? errors : joined(errors, [invalid(field, name, 'must be a standard resource for containers')])
  }
  if (isNative(name, identity) || isExtended(name, identity)) return errors
  return joined(errors, [invalid(field, name, "doesn't follow extended resource name standard")])
}

interface Amount {
  readonly name: string
  readonly amount: string
}

export function checkResourceAmount({ name, amount }: Amount, field: string, identity: Identity): readonly FieldError[] {
  const needsInteger = integerResources.has(name) || isExtended(name, identity)
  return joined(
    checkQuantityNotNegative(amount, field),
    needsInteger && !isWholeCount(parseQuantity(amount)) ? [invalid(field, amount, 'must be an integer')] : noErrors,
  )
}

/** Requires a multiple of the page size in the name. */
function checkPageCount(name: string, amount: string, field: string): readonly FieldError[] {
  const size = pageSizeOf(name)
  if (size !== undefined && quantityValue(parseQuantity(amount)) % size === 0n) return noErrors
  return [invalid(field, amount, `${amount} is not positive integer multiple of ${name}`)]
}

function pageSizeOf(name: string): bigint | undefined {
  let size: Quantity
  try {
    size = parseQuantity(name.slice(hugePagesPrefix.length))
  } catch {
    return undefined
  }
  const bytes = quantityValue(size)
  return bytes > 0n && isWhole(size) ? bytes : undefined
}

/** Values whose milli value overflows do not count as integers, as in kube-apiserver. */
const isWholeCount = (quantity: Quantity): boolean => isWhole(quantity) && isCountable(quantity, true)

type Amounts = { readonly [name: string]: string }

export type ClaimNames = readonly string[]

interface RequirementContext {
  readonly rules: PodRules
  readonly claims: ClaimNames
}

export function validateRequirements(
  { limits, requests, claims }: ResourceRequirements,
  field: string,
  context: RequirementContext,
): readonly FieldError[] {
  if (limits === undefined && requests === undefined && claims === undefined) return noErrors
  return joined(
    limits === undefined ? noErrors : validateLimits(limits, `${field}.limits`, context),
    requests === undefined ? noErrors : validateRequests({ requests, limits: limits ?? {} }, field, context),
    validateHugePages(limits ?? {}, requests ?? {}, field),
    claims === undefined ? noErrors : validateClaims(claims, `${field}.claims`, context.claims),
  )
}

const validateAmount = (amount: Amount, field: string, { identity }: PodRules): readonly FieldError[] =>
  joined(checkContainerResourceName(amount.name, field, identity), checkResourceAmount(amount, field, identity))

function validateLimits(limits: Amounts, field: string, { rules }: RequirementContext): readonly FieldError[] {
  let errors = noErrors
  for (const name in limits) {
    const amount = limits[name] as string
    const at = `${field}[${name}]`
    errors = joined(errors, validateAmount({ name, amount }, at, rules), isHugePages(name) ? checkPageCount(name, amount, at) : noErrors)
  }
  return errors
}

interface RequestsAndLimits {
  readonly requests: Amounts
  readonly limits: Amounts
}

function validateRequests({ requests, limits }: RequestsAndLimits, field: string, { rules }: RequirementContext): readonly FieldError[] {
  let errors = noErrors
  for (const name in requests) {
    const amount = requests[name] as string
    const at = `${field}.requests[${name}]`
    errors = joined(
      errors,
      validateAmount({ name, amount }, at, rules),
      compareWithLimit({ name, amount, limit: own(limits, name) }, field, rules),
      isHugePages(name) ? checkPageCount(name, amount, at) : noErrors,
    )
  }
  return errors
}

interface Compared {
  readonly name: string
  readonly amount: string
  readonly limit: string | undefined
}

/** Resources without overcommit need a request equal to the limit. */
function compareWithLimit({ name, amount, limit }: Compared, field: string, { identity }: PodRules): readonly FieldError[] {
  const isOvercommitable = canOvercommit(name, identity)
  if (limit === undefined)
    return isOvercommitable ? noErrors : [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')]
  if (amount === limit) return noErrors
  const difference = compareQuantities(parseQuantity(amount), parseQuantity(limit))
  if (difference !== 0 && !isOvercommitable) return [invalid(`${field}.requests`, amount, `must be equal to ${name} limit`)]
  return difference > 0 ? [invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit`)] : noErrors
}

/** Huge pages require cpu or memory as well. */
function validateHugePages(limits: Amounts, requests: Amounts, field: string): readonly FieldError[] {
  let hasPages = false
  for (const list of [limits, requests]) {
    for (const name in list) {
      if (name === 'cpu' || name === 'memory') return noErrors
      hasPages ||= isHugePages(name)
    }
  }
  return hasPages ? [forbidden(field, 'HugePages require cpu or memory')] : noErrors
}

function validateClaims(claims: readonly { readonly name?: string }[], field: string, known: ClaimNames): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(claims, field, ({ name = '' }, at) => {
    if (name === '') return [required(at)]
    const isRepeated = seen.has(name)
    seen.add(name)
    return joined(isRepeated ? [duplicate(at, name)] : noErrors, known.includes(name) ? noErrors : [unknownClaim(name, at, known)])
  })
}

function unknownClaim(name: string, field: string, known: ClaimNames): FieldError {
  const error = notFound(field, name)
  const choice = known.length === 0 ? ' which is empty' : `: ${sortTexts([...new Set(known)]).join(', ')}`
  return { ...error, message: `${error.message}: must be one of the names in pod.spec.resourceClaims${choice}` }
}
