// The rules of gates and claims: what a pod waits for before it is scheduled, is ready, or has its resources.

import { duplicate, type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { dnsLabel, qualifiedName } from '../../../api/validation/text-rules.js'
import type { ClaimSource, PodReadinessGate, PodResourceClaim, PodSchedulingGate } from '../v1.schema.js'

export const validateReadinessGates = (gates: readonly PodReadinessGate[] | undefined, field: string): readonly FieldError[] =>
  checkEach(gates, field, ({ conditionType = '' }, at) => checkText(conditionType, `${at}.conditionType`, qualifiedName))

type SchedulingGates = readonly PodSchedulingGate[] | undefined

export function validateSchedulingGates(gates: SchedulingGates, field: string): readonly FieldError[] {
  if (gates === undefined) return noErrors
  const seen = new Set<string>()
  return checkEach(gates, field, ({ name = '' }, at) => {
    const isRepeated = seen.has(name)
    seen.add(name)
    return joined(name === '' ? [required(at, 'must not be empty')] : noErrors, isRepeated ? [duplicate(at, name)] : noErrors)
  })
}

/** Gates are opened one by one; a pod gets no new ones. */
export function validateRemovedGates(next: SchedulingGates, old: SchedulingGates, field: string): readonly FieldError[] {
  const before = new Set((old ?? []).map(({ name }) => name))
  return checkEach(next, field, ({ name = '' }, at) =>
    before.has(name) ? noErrors : [forbidden(`${at}.name`, `only deletion is allowed, but found new scheduling gate '${name}'`)],
  )
}

export function validateResourceClaims(claims: readonly PodResourceClaim[] | undefined, field: string): readonly FieldError[] {
  if (claims === undefined) return noErrors
  const seen = new Set<string>()
  return checkEach(claims, field, ({ name = '', source = {} }, at) =>
    joined(takeClaimName(name, `${at}.name`, seen), validateSource(source, `${at}.source`)),
  )
}

function takeClaimName(name: string, field: string, seen: Set<string>): readonly FieldError[] {
  if (name === '') return [required(field)]
  if (seen.has(name)) return [duplicate(field, name)]
  seen.add(name)
  return checkText(name, field, dnsLabel)
}

function validateSource(source: ClaimSource, field: string): readonly FieldError[] {
  const isNamed = source.resourceClaimName !== undefined
  const isMade = source.resourceClaimTemplateName !== undefined
  if (isNamed !== isMade) return noErrors
  return [
    invalid(
      field,
      source,
      isNamed
        ? 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
        : 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
    ),
  ]
}
