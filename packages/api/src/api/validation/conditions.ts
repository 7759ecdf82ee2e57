// Validation of status conditions (`metav1.Condition`).

import { duplicate, type FieldError, invalid, required, tooLong } from '../field-error.js'
import type { Condition } from '../meta.schema.js'
import { byteLength } from './byte-length.js'
import { checkEach, checkOptionalChoice, checkText, joined, noErrors } from './checks.js'
import { grammarProblem, noProblems, qualifiedName } from './name-formats.js'

const statuses = ['False', 'True', 'Unknown']
const maxReasonBytes = 1024
const maxMessageBytes = 32 * 1024

const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonRegExp = new RegExp(`^${reasonPattern}$`)
const reasonProblems = Object.freeze([
  grammarProblem(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    reasonPattern,
    'my_name',
    'MY_NAME',
    'MyName',
    'ReasonA,ReasonB',
    'ReasonA:ReasonB',
  ),
])

export function validateConditions(conditions: readonly Condition[] | undefined, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return checkEach(conditions, field, (condition, at) => {
    const { type = '' } = condition
    const isRepeated = seen.has(type)
    seen.add(type)
    return joined(isRepeated ? [duplicate(`${at}.type`, type)] : noErrors, validateCondition(condition, at))
  })
}

function validateCondition(condition: Condition, field: string): readonly FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition
  const generationField = `${field}.observedGeneration`
  return joined(
    checkText(type, `${field}.type`, qualifiedName),
    checkOptionalChoice(status, `${field}.status`, statuses),
    observedGeneration < 0 ? [invalid(generationField, observedGeneration, 'must be greater than or equal to zero')] : noErrors,
    lastTransitionTime === undefined ? [required(`${field}.lastTransitionTime`, 'must be set')] : noErrors,
    validateReason(reason, `${field}.reason`),
    byteLength(message) > maxMessageBytes ? [tooLong(`${field}.message`, maxMessageBytes)] : noErrors,
  )
}

function validateReason(reason: string, field: string): readonly FieldError[] {
  if (reason === '') return [required(field, 'must be set')]
  return joined(
    checkText(reason, field, (text) => (reasonRegExp.test(text) ? noProblems : reasonProblems)),
    byteLength(reason) > maxReasonBytes ? [tooLong(field, maxReasonBytes)] : noErrors,
  )
}
