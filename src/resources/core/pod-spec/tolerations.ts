// The rules of tolerations: which taints of nodes a pod puts up with, and for how long.

import { type FieldError, forbidden, invalid, notSupported } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { labelValue, qualifiedName } from '../../../api/validation/text-rules.js'
import type { Toleration } from '../v1.schema.js'

const operators = ['Equal', 'Exists']
export const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const validateTolerations = (tolerations: readonly Toleration[] | undefined, field: string): readonly FieldError[] =>
  checkEach(tolerations, field, validateToleration)

function validateToleration(toleration: Toleration, field: string): readonly FieldError[] {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration
  return joined(
    key === '' ? noErrors : checkText(key, `${field}.key`, qualifiedName),
    key === '' && operator !== 'Exists'
      ? [invalid(`${field}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"')]
      : noErrors,
    tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : noErrors,
    validateValue(toleration, `${field}.operator`),
    effect === '' || taintEffects.includes(effect) ? noErrors : [notSupported(`${field}.effect`, effect, taintEffects)],
  )
}

/** What is wrong with the value is reported for the operator, which decides about it. */
function validateValue(toleration: Toleration, field: string): readonly FieldError[] {
  const { operator = '', value = '' } = toleration
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = labelValue(value)
      return problems.length === 0 ? noErrors : [invalid(field, value, problems.join(';'))]
    }
    case 'Exists':
      return value === '' ? noErrors : [invalid(field, toleration, "value must be empty when `operator` is 'Exists'")]
    default:
      return [notSupported(field, operator, operators)]
  }
}

/** A pod may learn to put up with more, and for another time, but not with less. */
export function validateAddedTolerations(
  next: readonly Toleration[] | undefined,
  old: readonly Toleration[] | undefined,
  field: string,
): readonly FieldError[] {
  if (next === old || sameValue(next, old)) return validateTolerations(next, field)
  const kept = (old ?? []).every((toleration) => (next ?? []).some((other) => sameValue(withoutTime(toleration), withoutTime(other))))
  return kept
    ? validateTolerations(next, field)
    : [forbidden(field, 'existing toleration can not be modified except its tolerationSeconds')]
}

const withoutTime = ({ tolerationSeconds: _, ...rest }: Toleration): Toleration => rest
