// The rules of quotas: resources that can be counted, and scopes that select what is counted.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { own } from '../../base/own.js'
import { checkResourceAmount, checkResourceName } from './pod-spec/resource-names.js'
import type { ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ScopedResourceSelectorRequirement } from './v1.schema.js'

const podCounts = ['pods']
const podAmounts = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']
const countable = new Set([
  ...podCounts,
  ...podAmounts,
  'ephemeral-storage',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
])
const isCountable = (name: string): boolean =>
  countable.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-')

/** What each scope can count of pods; everything else it has nothing to say about. */
const countedByScope: { readonly [scope: string]: ReadonlySet<string> } = {
  Terminating: new Set([...podCounts, ...podAmounts]),
  NotTerminating: new Set([...podCounts, ...podAmounts]),
  NotBestEffort: new Set([...podCounts, ...podAmounts]),
  PriorityClass: new Set([...podCounts, ...podAmounts]),
  CrossNamespacePodAffinity: new Set([...podCounts, ...podAmounts]),
  BestEffort: new Set(podCounts),
}
const conflictingScopes = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]

type Amounts = { readonly [name: string]: string }

function validateAmounts(amounts: Amounts | undefined, field: string, identity: Identity): readonly FieldError[] {
  let errors = noErrors
  for (const name in amounts) {
    const at = `${field}[${name}]`
    errors = joined(
      errors,
      checkResourceName(name, at),
      name.includes('/') || isCountable(name) ? noErrors : [invalid(at, name, 'must be a standard resource for quota')],
      checkResourceAmount({ name, amount: amounts[name] as string }, at, identity),
    )
  }
  return errors
}

export const validateQuotaSpec = (spec: ResourceQuotaSpec, field: string, identity: Identity): readonly FieldError[] =>
  joined(
    validateAmounts(spec.hard, `${field}.hard`, identity),
    validateScopes(spec, `${field}.scopes`),
    validateSelector(spec, `${field}.scopeSelector.matchExpressions`),
  )

export const validateQuotaStatus = (status: ResourceQuotaStatus, field: string, identity: Identity): readonly FieldError[] =>
  joined(validateAmounts(status.hard, `${field}.hard`, identity), validateAmounts(status.used, `${field}.used`, identity))

/** The limited resources that a scope cannot count. */
function uncounted(scope: string, hard: Amounts | undefined): readonly string[] {
  const counted = own(countedByScope, scope)
  return counted === undefined ? [] : Object.keys(hard ?? {}).filter((name) => isCountable(name) && !counted.has(name))
}

const conflictCount = (scopes: readonly string[]): number =>
  conflictingScopes.filter((pair) => pair.every((scope) => scopes.includes(scope))).length

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec, field: string): readonly FieldError[] {
  if (scopes.length === 0) return noErrors
  const problems = [
    ...scopes.flatMap((scope) => [
      ...(own(countedByScope, scope) === undefined ? ['unsupported scope'] : []),
      ...uncounted(scope, hard).map(() => 'unsupported scope applied to resource'),
    ]),
    ...new Array<string>(conflictCount(scopes)).fill('conflicting scopes'),
  ]
  return problems.map((problem) => invalid(field, scopes, problem))
}

function validateSelector({ scopeSelector, scopes = [], hard }: ResourceQuotaSpec, field: string): readonly FieldError[] {
  const requirements = scopeSelector?.matchExpressions ?? []
  if (requirements.length === 0) return noErrors
  const conflicts = conflictCount(requirements.map(({ scopeName = '' }) => scopeName))
  return [
    ...requirements.flatMap((requirement) => [
      ...validateScopeName(requirement, field),
      ...uncounted(requirement.scopeName ?? '', hard).map(() => invalid(field, scopeSelector, 'unsupported scope applied to resource')),
      ...validateScopeOperator(requirement, field),
      ...validateScopeValues(requirement, field),
    ]),
    ...new Array<FieldError>(conflicts).fill(invalid(field, scopes, 'conflicting scopes')),
  ]
}

const validateScopeName = ({ scopeName = '' }: ScopedResourceSelectorRequirement, field: string): readonly FieldError[] =>
  own(countedByScope, scopeName) === undefined ? [invalid(`${field}.scopeName`, scopeName, 'unsupported scope')] : noErrors

const existsOnly =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"

/** Only priority classes have values to choose among. */
function validateScopeOperator({ scopeName = '', operator = '' }: ScopedResourceSelectorRequirement, field: string): readonly FieldError[] {
  const hasValues = scopeName === 'PriorityClass' || own(countedByScope, scopeName) === undefined
  return hasValues || operator === 'Exists' ? noErrors : [invalid(`${field}.operator`, operator, existsOnly)]
}

function validateScopeValues({ operator = '', values = [] }: ScopedResourceSelectorRequirement, field: string): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return noErrors
      return [required(`${field}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")]
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return noErrors
      return [invalid(`${field}.values`, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")]
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')]
  }
}

/** What a quota counts is fixed: the scopes, in whatever order. */
export function validateQuotaChange(next: ResourceQuota, old: ResourceQuota): readonly FieldError[] {
  const [after, before] = [new Set(next.spec?.scopes), new Set(old.spec?.scopes)]
  const isSame = after.size === before.size && [...after].every((scope) => before.has(scope))
  return isSame ? noErrors : [invalid('spec.scopes', next.spec?.scopes ?? [], 'field is immutable')]
}
