// Validation of node selectors, and warnings for deprecated node labels.

import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { LabelSelectorObject } from '../../../api/selectors/label-selector.js'
import { checkText } from '../../../api/validation/checks.js'
import { dnsSubdomain, qualifiedName } from '../../../api/validation/name-formats.js'
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../v1.schema.js'

export type DeprecatedLabels = ReadonlyMap<string, string>

const labelsByIdentity = new WeakMap<Identity, DeprecatedLabels>()

export function deprecatedNodeLabels(identity: Identity): DeprecatedLabels {
  const known = labelsByIdentity.get(identity)
  if (known !== undefined) return known
  const renamed = (release: string, name: string): string => `deprecated since ${release}; use "${name}" instead`
  const messages = new Map([
    [identity.label('arch', 'beta'), renamed('v1.14', identity.label('arch'))],
    [identity.label('os', 'beta'), renamed('v1.14', identity.label('os'))],
    [identity.label('region', 'failure-domain.beta'), renamed('v1.17', identity.label('region', 'topology'))],
    [identity.label('zone', 'failure-domain.beta'), renamed('v1.17', identity.label('zone', 'topology'))],
    [identity.label('instance-type', 'beta'), renamed('v1.17', identity.label('instance-type', 'node'))],
  ])
  labelsByIdentity.set(identity, messages)
  return messages
}

export const warningFor = (message: string | undefined, format: (message: string) => string): readonly string[] =>
  message === undefined ? [] : [format(message)]

export const termsWarnings = (terms: readonly NodeSelectorTerm[] | undefined, field: string, labels: DeprecatedLabels): readonly string[] =>
  (terms ?? []).flatMap((term, i) => termWarnings(term, `${field}[${i}]`, labels))

export const selectorWarnings = (selector: LabelSelectorObject, field: string, labels: DeprecatedLabels): readonly string[] => [
  ...termWarnings(selector, field, labels),
  ...Object.keys(selector.matchLabels ?? {}).flatMap((key) =>
    warningFor(labels.get(key), (message) => `${field}.matchLabels.${key}: ${message}`),
  ),
]

export const termWarnings = (
  { matchExpressions = [] }: Pick<NodeSelectorTerm, 'matchExpressions'>,
  field: string,
  labels: DeprecatedLabels,
): readonly string[] =>
  matchExpressions.flatMap(({ key = '' }, i) =>
    warningFor(labels.get(key), (message) => `${field}.matchExpressions[${i}].key: ${key} is ${message}`),
  )

export function validateNodeSelector(selector: NodeSelector, field: string): readonly FieldError[] {
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) return [required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term')]
  return terms.flatMap((term, i) => validateNodeSelectorTerm(term, `${field}.nodeSelectorTerms[${i}]`))
}

export const validateNodeSelectorTerm = (term: NodeSelectorTerm, field: string): readonly FieldError[] => [
  ...(term.matchExpressions ?? []).flatMap((expression, i) => validateExpression(expression, `${field}.matchExpressions[${i}]`)),
  ...(term.matchFields ?? []).flatMap((expression, i) => validateFieldExpression(expression, `${field}.matchFields[${i}]`)),
]

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
