// How a priority level limits its requests: how many run at once, and how many wait in how many queues.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import type { LimitedPriorityLevelConfiguration, LimitResponse, QueuingConfiguration } from './v1beta2.schema.js'

const queuesLimit = 10_000_000
/** Queues are dealt to a flow from the bits of one hash. */
const hashBits = 60

/** `shares` is what the version in which the object was sent calls the shares of concurrency. */
export function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string, shares: string): readonly FieldError[] {
  const { assuredConcurrencyShares = 0, limitResponse = {}, lendablePercent = 0, borrowingLimitPercent = 0 } = limited
  return joined(
    checkAboveZero(assuredConcurrencyShares, `${field}.${shares}`),
    validateResponse(limitResponse, `${field}.limitResponse`),
    lendablePercent >= 0 && lendablePercent <= 100
      ? noErrors
      : [invalid(`${field}.lendablePercent`, lendablePercent, 'must be between 0 and 100, inclusive')],
    borrowingLimitPercent >= 0
      ? noErrors
      : [invalid(`${field}.borrowingLimitPercent`, borrowingLimitPercent, 'if specified, must be a non-negative integer')],
  )
}

const checkAboveZero = (value: number, field: string): readonly FieldError[] =>
  value > 0 ? noErrors : [invalid(field, value, 'must be positive')]

function validateResponse({ type = '', queuing }: LimitResponse, field: string): readonly FieldError[] {
  switch (type) {
    case 'Reject':
      return queuing === undefined ? noErrors : [forbidden(`${field}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
    case 'Queue':
      return queuing === undefined
        ? [required(`${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
        : validateQueuing(queuing, `${field}.queuing`)
    default:
      return [notSupported(`${field}.type`, type, ['Queue', 'Reject'])]
  }
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, field: string): readonly FieldError[] {
  return joined(
    checkAboveZero(queueLengthLimit, `${field}.queueLengthLimit`),
    queues > queuesLimit
      ? [invalid(`${field}.queues`, queues, `must not be greater than ${queuesLimit}`)]
      : checkAboveZero(queues, `${field}.queues`),
    validateHand(handSize, queues, `${field}.handSize`),
  )
}

function validateHand(handSize: number, queues: number, field: string): readonly FieldError[] {
  if (handSize <= 0) return checkAboveZero(handSize, field)
  if (handSize > queues) return [invalid(field, handSize, `should not be greater than queues (${queues})`)]
  const neededBits = Math.ceil(Math.log2(queues) * handSize)
  const problem = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBits}`
  return neededBits > hashBits ? [invalid(field, handSize, problem)] : noErrors
}
