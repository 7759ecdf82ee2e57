// The rules of node selectors, which pods, volumes, claims and classes of resources use alike.

import { type FieldError, forbidden, invalid, required } from '../../api/field-error.js'
import { checkText } from '../../api/validation/fields.js'
import { dnsSubdomain, qualifiedName } from '../../api/validation/text-rules.js'
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from './v1.schema.js'

export function validateNodeSelector(selector: NodeSelector, field: string): readonly FieldError[] {
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) return [required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term')]
  return terms.flatMap((term, i) => validateNodeSelectorTerm(term, `${field}.nodeSelectorTerms[${i}]`))
}

export const validateNodeSelectorTerm = (term: NodeSelectorTerm, field: string): readonly FieldError[] => [
  ...(term.matchExpressions ?? []).flatMap((expression, i) => validateExpression(expression, `${field}.matchExpressions[${i}]`)),
  ...(term.matchFields ?? []).flatMap((expression, i) => validateFieldExpression(expression, `${field}.matchFields[${i}]`)),
]

/** A requirement on the labels of a node. */
function validateExpression({ key = '', operator = '', values = [] }: NodeSelectorRequirement, field: string): readonly FieldError[] {
  return [...validateValues(operator, values, field), ...checkText(key, `${field}.key`, qualifiedName)]
}

function validateValues(operator: string, values: readonly string[], field: string): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? [] : [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    case 'Gt':
    case 'Lt':
      return values.length === 1 ? [] : [required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')]
  }
}

/** A requirement on a field of a node, of which only the name can be asked for. */
function validateFieldExpression({ key = '', operator = '', values = [] }: NodeSelectorRequirement, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'))
  else if (values.length !== 1) {
    errors.push(required(`${field}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
  }
  if (key !== 'metadata.name') errors.push(invalid(`${field}.key`, key, 'not a valid field selector key'))
  else errors.push(...values.flatMap((value, i) => checkText(value, `${field}.values[${i}]`, dnsSubdomain)))
  return errors
}
