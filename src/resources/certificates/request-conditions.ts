// The conditions of a request for a certificate: approved, denied or failed, and nobody takes that back.

import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach } from '../../api/validation/collect.js'
import { sameValue } from '../../api/validation/same-value.js'
import { timeOf } from '../../schema/scalars.js'
import type { CertificateSigningRequest, CertificateSigningRequestCondition as Condition } from './v1.schema.js'

type Request = CertificateSigningRequest

const decisions = ['Approved', 'Denied']
const finalTypes = [...decisions, 'Failed']
const statuses = ['False', 'True', 'Unknown']
const field = 'status.conditions'

const conditionsOf = ({ status }: Request): readonly Condition[] => status?.conditions ?? []
const ofType = (request: Request, type: string): readonly Condition[] =>
  conditionsOf(request).filter((condition) => (condition.type ?? '') === type)

export function validateConditions(request: Request): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(request.status?.conditions, field, ({ type = '', status = '' }, at) => {
    const errors: FieldError[] = type === '' ? [required(`${at}.type`)] : []
    const allowed = finalTypes.includes(type) ? ['True'] : statuses
    if (status === '') errors.push(required(`${at}.status`))
    else if (!allowed.includes(status)) errors.push(notSupported(`${at}.status`, status, allowed))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && seen.has(opposite)) {
      errors.push(invalid(`${at}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type))
    seen.add(type)
    return errors
  })
}

export const validateKeptConditions = (next: Request, old: Request): readonly FieldError[] =>
  finalTypes
    .filter((type) => ofType(next, type).length < ofType(old, type).length)
    .map((type) => forbidden(field, `updates may not remove a condition of type "${type}"`))

/** Only an approval decides; whoever issues the certificate does not. */
export const validateSameDecision = (next: Request, old: Request): readonly FieldError[] =>
  decisions.flatMap((type) => {
    const [now, before] = [ofType(next, type), ofType(old, type)]
    if (now.length > before.length) return [forbidden(field, `updates may not add a condition of type "${type}"`)]
    if (now.length < before.length || sameValue(now, before)) return []
    return [forbidden(field, `updates may not modify a condition of type "${type}"`)]
  })

/** The conditions with the old decisions in their places, as long as none was added or removed. */
export function withOldDecisions(next: Request, old: Request): readonly Condition[] {
  const kept = new Map(
    decisions.filter((type) => ofType(next, type).length === ofType(old, type).length).map((type) => [type, [...ofType(old, type)]]),
  )
  return conditionsOf(next).map((condition) => kept.get(condition.type ?? '')?.shift() ?? condition)
}

/** Conditions that do not say when they came about came about now, unless they were there before. */
export function withTimes(conditions: readonly Condition[], old: Request, now: number): readonly Condition[] {
  const time = timeOf(now)
  return conditions.map((condition) => {
    const before = conditionsOf(old).find(
      ({ type, status, lastTransitionTime }) => type === condition.type && status === condition.status && lastTransitionTime !== undefined,
    )
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? time,
    }
  })
}
