// ResourceQuota: resource names, scopes and scope selectors, status, printer columns.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { own } from '../../base/own-property.js'
import { sortTexts } from '../../base/text-order.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withOldStatus } from '../status-subresource.js'
import { checkResourceAmount, checkResourceName, roundedResources } from './pod-spec/resource-requirements.js'
import { withChanged } from './pod-spec/visit-containers.js'
import {
  type ResourceQuota,
  type ResourceQuotaSpec,
  type ResourceQuotaStatus,
  type ScopedResourceSelectorRequirement,
  resourceQuota as schema,
} from './v1.schema.js'

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

const resourcesByScope: { readonly [scope: string]: ReadonlySet<string> } = {
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

const validateQuotaSpec = (spec: ResourceQuotaSpec, field: string, identity: Identity): readonly FieldError[] =>
  joined(
    validateAmounts(spec.hard, `${field}.hard`, identity),
    validateScopes(spec, `${field}.scopes`),
    validateSelector(spec, `${field}.scopeSelector.matchExpressions`),
  )

const validateQuotaStatus = (status: ResourceQuotaStatus, field: string, identity: Identity): readonly FieldError[] =>
  joined(validateAmounts(status.hard, `${field}.hard`, identity), validateAmounts(status.used, `${field}.used`, identity))

function unsupportedResources(scope: string, hard: Amounts | undefined): readonly string[] {
  const supported = own(resourcesByScope, scope)
  return supported === undefined ? [] : Object.keys(hard ?? {}).filter((name) => isCountable(name) && !supported.has(name))
}

const conflictCount = (scopes: readonly string[]): number =>
  conflictingScopes.filter((pair) => pair.every((scope) => scopes.includes(scope))).length

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec, field: string): readonly FieldError[] {
  if (scopes.length === 0) return noErrors
  const problems = [
    ...scopes.flatMap((scope) => [
      ...(own(resourcesByScope, scope) === undefined ? ['unsupported scope'] : []),
      ...unsupportedResources(scope, hard).map(() => 'unsupported scope applied to resource'),
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
      ...unsupportedResources(requirement.scopeName ?? '', hard).map(() =>
        invalid(field, scopeSelector, 'unsupported scope applied to resource'),
      ),
      ...validateScopeOperator(requirement, field),
      ...validateScopeValues(requirement, field),
    ]),
    ...new Array<FieldError>(conflicts).fill(invalid(field, scopes, 'conflicting scopes')),
  ]
}

const validateScopeName = ({ scopeName = '' }: ScopedResourceSelectorRequirement, field: string): readonly FieldError[] =>
  own(resourcesByScope, scopeName) === undefined ? [invalid(`${field}.scopeName`, scopeName, 'unsupported scope')] : noErrors

const existsOnlyProblem =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"

/** Of the known scopes, only PriorityClass allows other operators than Exists. */
function validateScopeOperator({ scopeName = '', operator = '' }: ScopedResourceSelectorRequirement, field: string): readonly FieldError[] {
  const hasValues = scopeName === 'PriorityClass' || own(resourcesByScope, scopeName) === undefined
  return hasValues || operator === 'Exists' ? noErrors : [invalid(`${field}.operator`, operator, existsOnlyProblem)]
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

function validateQuotaChange(next: ResourceQuota, old: ResourceQuota): readonly FieldError[] {
  const [after, before] = [new Set(next.spec?.scopes), new Set(old.spec?.scopes)]
  const isSame = after.size === before.size && [...after].every((scope) => before.has(scope))
  return isSame ? noErrors : [invalid('spec.scopes', next.spec?.scopes ?? [], 'field is immutable')]
}

function defaults(quota: ResourceQuota): ResourceQuota {
  const next = withChanged(quota, 'spec', (spec) => withChanged(spec, 'hard', roundedResources))
  return withChanged(next, 'status', (status) => withChanged(withChanged(status, 'hard', roundedResources), 'used', roundedResources))
}

const limitPrefix = 'limits.'

function describeUsage({ hard = {}, used = {} }: ResourceQuotaStatus, { isForLimits }: { readonly isForLimits: boolean }): string {
  const names = Object.keys(hard).filter((name) => name.startsWith(limitPrefix) === isForLimits)
  return sortTexts(names)
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ')
}

export const resourceQuota = defineResource<ResourceQuota>({
  group: '',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (quota) => ({ ...quota, status: {} }),
  prepareUpdate: withOldStatus,
  validate: (quota, context) => validateQuotaSpec(quota.spec ?? {}, 'spec', context.identity),
  validateUpdate: validateQuotaChange,
  checks: { update: ['metadataChange', 'validate', 'validateUpdate'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    statusSubresource<ResourceQuota>({
      validateUpdate: (next, _old, { identity }) => validateQuotaStatus(next.status ?? {}, 'status', identity),
    }),
  ],
  table: tableOf<ResourceQuota>(
    nameColumn,
    ageColumn,
    textColumn('Request', 'Usage of requests out of their quota.', ({ status = {} }) => describeUsage(status, { isForLimits: false })),
    textColumn('Limit', 'Usage of limits out of their quota.', ({ status = {} }) => describeUsage(status, { isForLimits: true })),
  ),
})
