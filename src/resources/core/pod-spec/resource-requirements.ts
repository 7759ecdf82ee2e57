// What a container asks for and what it may take at most: requests stay within limits, claims are those of the pod.

import { duplicate, type FieldError, forbidden, invalid, notFound, required } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import { own } from '../../../base/own.js'
import { sortTexts } from '../../../base/text-order.js'
import { compareQuantities, parseQuantity } from '../../../schema/quantity.js'
import type { ResourceRequirements } from '../v1.schema.js'
import type { PodRules } from './pod-rules.js'
import {
  type Amount,
  canOvercommit,
  checkContainerResourceName,
  checkPageCount,
  checkResourceAmount,
  isHugePages,
} from './resource-names.js'

type Amounts = { readonly [name: string]: string }

/** Claims of the pod by name; only names that are not empty. */
export type ClaimNames = readonly string[]

export interface RequirementContext {
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

interface Requested {
  readonly requests: Amounts
  readonly limits: Amounts
}

function validateRequests({ requests, limits }: Requested, field: string, { rules }: RequirementContext): readonly FieldError[] {
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

/** What cannot be overcommitted is asked for in full. */
function compareWithLimit({ name, amount, limit }: Compared, field: string, { identity }: PodRules): readonly FieldError[] {
  const isLoose = canOvercommit(name, identity)
  if (limit === undefined) return isLoose ? noErrors : [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')]
  if (amount === limit) return noErrors
  const difference = compareQuantities(parseQuantity(amount), parseQuantity(limit))
  if (difference !== 0 && !isLoose) return [invalid(`${field}.requests`, amount, `must be equal to ${name} limit`)]
  return difference > 0 ? [invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit`)] : noErrors
}

/** Whoever takes huge pages takes some of the rest too. */
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
