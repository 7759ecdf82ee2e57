// The configuration of ResourceQuota: which resources nobody may use in a namespace without a quota for them.

import type { ConfigContext } from './admission-config.js'
import { checkKind, listOf, mappingOf, onlyFields, requiredText, textOf, textsOf } from './fields.js'

/** A scope by which quotas and limited resources are told apart: all of its values, or some. */
export interface ScopeRequirement {
  readonly scopeName: string
  readonly operator: string
  readonly values: readonly string[]
}

export interface LimitedResource {
  readonly apiGroup: string
  readonly resource: string
  /** What the names of amounts that are limited contain. */
  readonly matchContains: readonly string[]
  readonly matchScopes: readonly ScopeRequirement[]
}

const kinds = [
  { kind: 'ResourceQuotaConfiguration', group: { stem: 'apiserver.config' }, versions: ['v1'] },
  { kind: 'Configuration', group: { stem: 'resourcequota.admission' }, versions: ['v1beta1', 'v1alpha1'] },
]
const scopes = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity']
const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

export function parseLimitedResources(value: unknown, { identity, where }: ConfigContext): readonly LimitedResource[] {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['limitedResources'] })
  const place = where === '' ? 'limitedResources' : `${where}.limitedResources`
  return listOf(fields, 'limitedResources', where).map((each, i) => limitedResourceOf(each, `${place}[${i}]`))
}

function limitedResourceOf(value: unknown, where: string): LimitedResource {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['apiGroup', 'resource', 'matchContains', 'matchScopes'], where)
  return {
    apiGroup: textOf(fields, 'apiGroup', where) ?? '',
    resource: requiredText(fields, 'resource', where),
    matchContains: textsOf(fields, 'matchContains', where),
    matchScopes: listOf(fields, 'matchScopes', where).map((each, i) => requirementOf(each, `${where}.matchScopes[${i}]`)),
  }
}

function requirementOf(value: unknown, where: string): ScopeRequirement {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['scopeName', 'operator', 'values'], where)
  const scopeName = requiredText(fields, 'scopeName', where)
  const operator = requiredText(fields, 'operator', where)
  const values = textsOf(fields, 'values', where)
  if (!scopes.includes(scopeName)) throw new Error(`${where}.scopeName: must be one of ${scopes.join(', ')}`)
  if (!operators.includes(operator)) throw new Error(`${where}.operator: must be one of ${operators.join(', ')}`)
  const wantsValues = operator === 'In' || operator === 'NotIn'
  if (wantsValues !== values.length > 0)
    throw new Error(`${where}.values: must ${wantsValues ? 'not ' : ''}be empty when the operator is ${operator}`)
  return { scopeName, operator, values }
}
