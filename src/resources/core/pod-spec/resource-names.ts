// The names of resources: those that the system counts itself, and those that others bring under a domain of their own.

import { type FieldError, invalid } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { qualifiedName } from '../../../api/validation/text-rules.js'
import { parseQuantity, type Quantity, quantityValue } from '../../../schema/quantity.js'
import { labelDomain } from './own-domains.js'
import { checkQuantityNotNegative, isCountable, isWhole } from './quantities.js'

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
const wholeResources = new Set(countedObjects)
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

/** A resource of the system: without a domain, or under the system's own. */
export const isNative = (name: string, identity: Identity): boolean => !name.includes('/') || name.includes(`${labelDomain(identity)}/`)

/** A resource that somebody else brings, and that quotas can name with a prefix. */
export const isExtended = (name: string, identity: Identity): boolean =>
  !isNative(name, identity) && !name.startsWith(requestsPrefix) && qualifiedName(`${requestsPrefix}${name}`).length === 0

/** Whether more may be promised than there is: not of huge pages, nor of what others bring. */
export const canOvercommit = (name: string, identity: Identity): boolean => isNative(name, identity) && !isHugePages(name)

const isStandard = (name: string): boolean =>
  standardResources.has(name) || isHugePages(name) || name.startsWith(`${requestsPrefix}${hugePagesPrefix}`)

/** A name of any resource that can be counted. */
export function checkResourceName(name: string, field: string): readonly FieldError[] {
  const errors = checkText(name, field, qualifiedName)
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors
  return [invalid(field, name, 'must be a standard resource type or fully qualified')]
}

/** A name of a resource that a container can have. */
export function checkContainerResourceName(name: string, field: string, identity: Identity): readonly FieldError[] {
  if (containerResources.has(name)) return noErrors
  const errors = checkResourceName(name, field)
  if (!name.includes('/')) {
    return isHugePages(name) ? errors : joined(errors, [invalid(field, name, 'must be a standard resource for containers')])
  }
  if (isNative(name, identity) || isExtended(name, identity)) return errors
  return joined(errors, [invalid(field, name, "doesn't follow extended resource name standard")])
}

export interface Amount {
  readonly name: string
  readonly amount: string
}

/** No amount is negative, and what comes in pieces comes in whole pieces. */
export function checkResourceAmount({ name, amount }: Amount, field: string, identity: Identity): readonly FieldError[] {
  const comesInPieces = wholeResources.has(name) || isExtended(name, identity)
  return joined(
    checkQuantityNotNegative(amount, field),
    comesInPieces && !isWholeCount(parseQuantity(amount)) ? [invalid(field, amount, 'must be an integer')] : noErrors,
  )
}

/** Huge pages are taken in whole pages, whose size the name tells. */
export function checkPageCount(name: string, amount: string, field: string): readonly FieldError[] {
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

/** What is too large to be counted in thousandths is no whole number to whoever counts so. */
const isWholeCount = (quantity: Quantity): boolean => isWhole(quantity) && isCountable(quantity, true)
