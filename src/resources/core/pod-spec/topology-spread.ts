// The rules of how pods are spread over zones, nodes and other domains.

import { duplicate, type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkOptionalChoice, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { validateLabelSelector } from '../../../api/validation/label-selector.js'
import { checkPositive } from '../../../api/validation/ranges.js'
import { qualifiedName } from '../../../api/validation/text-rules.js'
import type { TopologySpreadConstraint } from '../v1.schema.js'

const actions = ['DoNotSchedule', 'ScheduleAnyway']
const policies = ['Honor', 'Ignore']

type Constraints = readonly TopologySpreadConstraint[]

export const validateTopologySpread = (constraints: Constraints, field: string): readonly FieldError[] =>
  checkEach(constraints, field, (constraint, at, i) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', nodeAffinityPolicy, nodeTaintsPolicy, labelSelector } = constraint
    const isRepeated = constraints.slice(i + 1).some((other) => isSameSpread(other, constraint))
    return joined(
      checkPositive(maxSkew, `${at}.maxSkew`),
      topologyKey === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : noErrors,
      checkOptionalChoice(whenUnsatisfiable, `${at}.whenUnsatisfiable`, actions),
      isRepeated ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`)] : noErrors,
      validateMinDomains(constraint, `${at}.minDomains`),
      checkOptionalChoice(nodeAffinityPolicy, `${at}.nodeAffinityPolicy`, policies),
      checkOptionalChoice(nodeTaintsPolicy, `${at}.nodeTaintsPolicy`, policies),
      validateLabelKeys(constraint, `${at}.matchLabelKeys`),
      validateLabelSelector(labelSelector, `${at}.labelSelector`),
    )
  })

const isSameSpread = (a: TopologySpreadConstraint, b: TopologySpreadConstraint): boolean =>
  a.topologyKey === b.topologyKey && a.whenUnsatisfiable === b.whenUnsatisfiable

function validateMinDomains({ minDomains, whenUnsatisfiable = '' }: TopologySpreadConstraint, field: string): readonly FieldError[] {
  if (minDomains === undefined) return noErrors
  return joined(
    checkPositive(minDomains, field),
    whenUnsatisfiable === 'DoNotSchedule'
      ? noErrors
      : [invalid(field, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`)],
  )
}

function validateLabelKeys({ matchLabelKeys, labelSelector }: TopologySpreadConstraint, field: string): readonly FieldError[] {
  if (matchLabelKeys === undefined) return noErrors
  const { matchLabels = {}, matchExpressions = [] } = labelSelector ?? {}
  const selected = new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)])
  return checkEach(matchLabelKeys, field, (key, at) =>
    joined(
      checkText(key, at, qualifiedName),
      selected.has(key) ? [invalid(at, key, 'exists in both matchLabelKeys and labelSelector')] : noErrors,
    ),
  )
}
