// Which quotas have a say about an object, and for which amounts.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import type { WrittenAmounts } from './amounts.js'
import type { QuotaEvaluator } from './evaluator.js'

/** Scopes of the old form stand for all of their values. */
export const scopesOf = ({ spec = {} }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
]

/** The amounts of the quota that objects of the kind count for. */
export const limitedNames = (evaluator: QuotaEvaluator, hard: WrittenAmounts | undefined, identity: Identity): readonly string[] =>
  Object.keys(hard ?? {}).filter((name) => evaluator.counts(name, identity))

/** Throws where a scope cannot be understood. */
export function isInScopes(evaluator: QuotaEvaluator, quota: ResourceQuota, object: ApiObject): boolean {
  return scopesOf(quota).every((scope) => evaluator.isInScope(scope, object))
}

/** Whether the quota, by what its status says, counts the object. */
export const matchesQuota = (evaluator: QuotaEvaluator, quota: ResourceQuota, object: ApiObject, identity: Identity): boolean =>
  limitedNames(evaluator, quota.status?.hard, identity).length > 0 && isInScopes(evaluator, quota, object)
