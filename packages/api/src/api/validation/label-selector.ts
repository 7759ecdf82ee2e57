// Validation of label selectors in objects: `matchLabels` and `matchExpressions`.

import { type FieldError, forbidden, invalid, required } from '../field-error.js'
import type { LabelSelectorObject } from '../selectors/label-selector.js'
import { checkEach, checkText, joined, noErrors } from './checks.js'
import { validateLabels } from './metadata/labels.js'
import { labelValue, qualifiedName } from './name-formats.js'

type Expression = NonNullable<LabelSelectorObject['matchExpressions']>[number]

export function validateLabelSelector(selector: LabelSelectorObject | undefined, field: string): readonly FieldError[] {
  if (selector === undefined) return noErrors
  return joined(
    validateLabels(selector.matchLabels, `${field}.matchLabels`),
    checkEach(selector.matchExpressions, `${field}.matchExpressions`, validateExpression),
  )
}

const validateExpression = ({ key = '', operator = '', values = [] }: Expression, field: string): readonly FieldError[] =>
  joined(
    validateCount(operator, values.length, field),
    checkText(key, `${field}.key`, qualifiedName),
    checkEach(values, `${field}.values`, (value, at) => checkText(value, at, labelValue)),
  )

function validateCount(operator: string, count: number, field: string): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? noErrors : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return count === 0 ? noErrors : [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')]
  }
}

export const isEmptySelector = ({ matchLabels, matchExpressions }: LabelSelectorObject): boolean =>
  Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
