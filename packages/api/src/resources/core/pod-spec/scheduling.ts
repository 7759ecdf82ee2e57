// Validation of pod scheduling: affinity, tolerations, topology spread, readiness gates, scheduling gates, resource claims.

import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import { checkEach, checkOptional, checkOptionalChoice, checkText, joined, noErrors } from '../../../api/validation/checks.js'
import { validateLabelSelector } from '../../../api/validation/label-selector.js'
import { dnsLabel, labelValue, qualifiedName } from '../../../api/validation/name-formats.js'
import { checkPositive } from '../../../api/validation/ranges.js'
import { sameValue } from '../../../api/validation/same-value.js'
import { validateNodeSelector, validateNodeSelectorTerm } from '../node/node-selector.js'
import type {
  Affinity,
  ClaimSource,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
  PodReadinessGate,
  PodResourceClaim,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from '../v1.schema.js'

export const validateAffinity = ({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, field: string): readonly FieldError[] =>
  joined(
    checkOptional(nodeAffinity, `${field}.nodeAffinity`, validateNodeAffinity),
    checkOptional(podAffinity, `${field}.podAffinity`, validatePodAffinity),
    checkOptional(podAntiAffinity, `${field}.podAntiAffinity`, validatePodAffinity),
  )

const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution'

const checkWeight = (weight: number, field: string): readonly FieldError[] =>
  weight >= 1 && weight <= 100 ? noErrors : [invalid(`${field}.weight`, weight, 'must be in the range 1-100')]

const validateNodeAffinity = (affinity: NodeAffinity, field: string): readonly FieldError[] =>
  joined(
    checkOptional(affinity[requiredField], `${field}.${requiredField}`, validateNodeSelector),
    checkEach(affinity[preferredField], `${field}.${preferredField}`, ({ weight = 0, preference = {} }, at) =>
      joined(checkWeight(weight, at), validateNodeSelectorTerm(preference, `${at}.preference`)),
    ),
  )

const validatePodAffinity = (affinity: PodAffinity, field: string): readonly FieldError[] =>
  joined(
    checkEach(affinity[requiredField], `${field}.${requiredField}`, validateTerm),
    checkEach(affinity[preferredField], `${field}.${preferredField}`, ({ weight = 0, podAffinityTerm = {} }, at) =>
      joined(checkWeight(weight, at), validateTerm(podAffinityTerm, `${at}.podAffinityTerm`)),
    ),
  )

function validateTerm(term: PodAffinityTerm, field: string): readonly FieldError[] {
  const { labelSelector, namespaceSelector, namespaces, topologyKey = '' } = term
  return joined(
    validateLabelSelector(labelSelector, `${field}.labelSelector`),
    validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    checkEach(namespaces, field, (name) => checkText(name, `${field}.namespace`, dnsLabel)),
    topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : noErrors,
    checkText(topologyKey, `${field}.topologyKey`, qualifiedName),
  )
}

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

/** Scheduling gates may only be removed. */
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
    joined(checkClaimName(name, `${at}.name`, seen), validateSource(source, `${at}.source`)),
  )
}

function checkClaimName(name: string, field: string, seen: Set<string>): readonly FieldError[] {
  if (name === '') return [required(field)]
  if (seen.has(name)) return [duplicate(field, name)]
  seen.add(name)
  return checkText(name, field, dnsLabel)
}

function validateSource(source: ClaimSource, field: string): readonly FieldError[] {
  const isNamed = source.resourceClaimName !== undefined
  const isFromTemplate = source.resourceClaimTemplateName !== undefined
  if (isNamed !== isFromTemplate) return noErrors
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

const tolerationOperators = ['Equal', 'Exists']
const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

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

/** Errors about the value name the field `operator`, as in kube-apiserver. */
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
      return [notSupported(field, operator, tolerationOperators)]
  }
}

/** Existing tolerations may change only their tolerationSeconds; new ones may be added. */
export function validateAddedTolerations(
  next: readonly Toleration[] | undefined,
  old: readonly Toleration[] | undefined,
  field: string,
): readonly FieldError[] {
  if (next === old || sameValue(next, old)) return validateTolerations(next, field)
  const areKept = (old ?? []).every((toleration) =>
    (next ?? []).some((other) => sameValue(withoutSeconds(toleration), withoutSeconds(other))),
  )
  return areKept
    ? validateTolerations(next, field)
    : [forbidden(field, 'existing toleration can not be modified except its tolerationSeconds')]
}

const withoutSeconds = ({ tolerationSeconds: _, ...rest }: Toleration): Toleration => rest

const unsatisfiableActions = ['DoNotSchedule', 'ScheduleAnyway']
const nodeInclusionPolicies = ['Honor', 'Ignore']

type Constraints = readonly TopologySpreadConstraint[]

/** Does not validate the syntax of `labelSelector`, like kube-apiserver 1.26. */
export const validateTopologySpread = (constraints: Constraints, field: string): readonly FieldError[] =>
  checkEach(constraints, field, (constraint, at, i) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', nodeAffinityPolicy, nodeTaintsPolicy } = constraint
    const isRepeated = constraints.slice(i + 1).some((other) => isSameSpread(other, constraint))
    return joined(
      checkPositive(maxSkew, `${at}.maxSkew`),
      topologyKey === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : noErrors,
      checkOptionalChoice(whenUnsatisfiable, `${at}.whenUnsatisfiable`, unsatisfiableActions),
      isRepeated ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`)] : noErrors,
      validateMinDomains(constraint, `${at}.minDomains`),
      checkOptionalChoice(nodeAffinityPolicy, `${at}.nodeAffinityPolicy`, nodeInclusionPolicies),
      checkOptionalChoice(nodeTaintsPolicy, `${at}.nodeTaintsPolicy`, nodeInclusionPolicies),
      validateLabelKeys(constraint, `${at}.matchLabelKeys`),
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
