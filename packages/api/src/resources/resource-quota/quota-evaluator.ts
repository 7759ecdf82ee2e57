// QuotaEvaluator: amounts of quota resources (such as `requests.cpu`) that an object of one kind uses, and whether a quota applies to it.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import type { Amounts, WrittenAmounts } from './resource-amounts.js'

export interface UsageContext {
  readonly identity: Identity
  readonly now: number
}

export interface QuotaEvaluator {
  usage(object: ApiObject, context: UsageContext): Amounts
  /** True if objects of this kind use the quota resource. */
  counts(name: string, identity: Identity): boolean
  isInScope(scope: ScopedResourceSelectorRequirement, object: ApiObject): boolean
  /** Error message if the object lacks values for limited resources, such as `limits.memory`. */
  constraintProblem(limited: readonly string[], object: ApiObject): string | undefined
  /** True if updates are checked for additional usage; creates always are. */
  readonly checksUpdates: boolean
  /** True if each object counts as one and nothing else. */
  readonly isPlainCount?: boolean
}

export const scopesOf = ({ spec = {} }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
]

/** Resources of `hard` that objects of the kind use. */
export const limitedNames = (evaluator: QuotaEvaluator, hard: WrittenAmounts | undefined, identity: Identity): readonly string[] =>
  Object.keys(hard ?? {}).filter((name) => evaluator.counts(name, identity))

export function isInScopes(evaluator: QuotaEvaluator, quota: ResourceQuota, object: ApiObject): boolean {
  return scopesOf(quota).every((scope) => evaluator.isInScope(scope, object))
}

export const matchesQuota = (evaluator: QuotaEvaluator, quota: ResourceQuota, object: ApiObject, identity: Identity): boolean =>
  limitedNames(evaluator, quota.status?.hard, identity).length > 0 && isInScopes(evaluator, quota, object)
