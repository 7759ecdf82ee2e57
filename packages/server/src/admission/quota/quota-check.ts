// Checks a write against the ResourceQuotas of its namespace, and computes their new usage.

import type { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { QuotaEvaluator } from '@cluster-apiserver/api/resources/resource-quota/quota-evaluator.js'
import { isInScopes, limitedNames, matchesQuota, scopesOf } from '@cluster-apiserver/api/resources/resource-quota/quota-evaluator.js'
import {
  type Amounts,
  addAmounts,
  filterAmounts,
  noAmounts,
  readAmounts,
  subtractAmounts,
  type WrittenAmounts,
  writeAmounts,
} from '@cluster-apiserver/api/resources/resource-quota/resource-amounts.js'
import { compareQuantities, printQuantity } from '@cluster-apiserver/api/schema/quantity.js'
import type { LimitedResource } from '../config/plugin-configs.js'
import type { CachedObject } from '../namespace-object-cache.js'

export interface CountedWrite {
  readonly evaluator: QuotaEvaluator
  /** Such as `deployments` of `apps`. */
  readonly resource: { readonly group: string; readonly name: string }
  readonly next: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly identity: Identity
  readonly now: number
  readonly refuse: (why: string) => ApiError
}

export type CachedQuota = CachedObject<ResourceQuota>

export function checkQuotas(quotas: readonly CachedQuota[], write: CountedWrite, limited: readonly LimitedResource[]): void {
  const { evaluator, next, old, identity, refuse } = write
  if (next === undefined) return
  const limitedHere = limited.filter(({ apiGroup, resource }) => apiGroup === write.resource.group && resource === write.resource.name)
  if (quotas.length === 0 && limitedHere.length === 0) return
  const context = { identity, now: write.now }
  const matching = quotas.filter(({ object }) => isMatched(write, object, next))
  const covered = new Set<string>()
  for (const { object } of matching) {
    const names = limitedNames(evaluator, object.status?.hard, identity)
    const problem = evaluator.constraintProblem(names, next)
    if (problem !== undefined) throw refuse(`failed quota: ${object.metadata?.name}: ${problem}`)
    const unknown = names.some((name) => object.status?.used?.[name] === undefined)
    if (unknown) throw refuse(`status unknown for quota: ${object.metadata?.name}, resources: ${[...names].sort(compareText).join(',')}`)
    for (const name of names) covered.add(name)
  }
  const usage = evaluator.usage(next, context)
  const negative = [...usage].filter(([, amount]) => amount.unscaled < 0n).map(([name]) => name)
  if (negative.length > 0) throw refuse(`quota usage is negative for resource(s): ${negative.sort(compareText).join(',')}`)
  const delta = filterAmounts(old === undefined ? usage : subtractAmounts(usage, evaluator.usage(old, context)), () => true)
  if (delta.size === 0) return
  checkCovered(write, limitedHere, { usage, covered, quotas, next })
  for (const { object } of matching) checkLimits(write, object, delta)
}

/** Rejects the write if a scope of the quota is invalid. */
function isMatched({ evaluator, identity, refuse }: CountedWrite, quota: ResourceQuota, object: ApiObject): boolean {
  try {
    return matchesQuota(evaluator, quota, object, identity)
  } catch (thrown) {
    throw refuse((thrown as Error).message)
  }
}

interface Coverage {
  readonly usage: Amounts
  readonly covered: ReadonlySet<string>
  readonly quotas: readonly CachedQuota[]
  readonly next: ApiObject
}

function checkCovered({ evaluator, refuse }: CountedWrite, limited: readonly LimitedResource[], coverage: Coverage): void {
  const { usage, covered, quotas, next } = coverage
  const isLimited = (name: string): boolean => limited.some(({ matchContains }) => matchContains.some((part) => name.includes(part)))
  const names = [...usage].filter(([name, amount]) => amount.unscaled > 0n && isLimited(name)).map(([name]) => name)
  const uncovered = names.filter((name) => !covered.has(name))
  if (uncovered.length > 0) throw refuse(`insufficient quota to consume: ${uncovered.sort(compareText).join(',')}`)
  const scopes = limited.flatMap(({ matchScopes }) => matchScopes.filter((scope) => evaluator.isInScope(scope, next)))
  const uncoveredScopes = scopes.filter((scope) => !quotas.some(({ object }) => coversScope(evaluator, object, { scope, next })))
  if (uncoveredScopes.length === 0) return
  const texts = uncoveredScopes.map(({ scopeName, operator, values }) => `{${scopeName} ${operator} [${values.join(' ')}]}`)
  throw refuse(`insufficient quota to match these scopes: [${texts.join(' ')}]`)
}

interface LimitedScope {
  readonly scope: ScopedResourceSelectorRequirement
  readonly next: ApiObject
}

const coversScope = (evaluator: QuotaEvaluator, quota: ResourceQuota, { scope, next }: LimitedScope): boolean =>
  scopesOf(quota).some((quotaScope) => quotaScope.scopeName === scope.scopeName && evaluator.isInScope(quotaScope, next))

function checkLimits({ refuse }: CountedWrite, quota: ResourceQuota, delta: Amounts): void {
  const hard = amountsOf(quota.status?.hard)
  const used = amountsOf(quota.status?.used)
  const requested = filterAmounts(delta, (name) => hard.has(name))
  const after = addAmounts(used, requested)
  const exceeded = [...requested].flatMap(([name, amount]) => {
    const [limit, sum] = [hard.get(name), after.get(name)]
    return amount.unscaled > 0n && limit !== undefined && sum !== undefined && compareQuantities(sum, limit) > 0 ? [name] : []
  })
  if (exceeded.length === 0) return
  const text = (amounts: Amounts): string =>
    exceeded
      .sort(compareText)
      .flatMap((name) => {
        const amount = amounts.get(name)
        return amount === undefined ? [] : [`${name}=${printQuantity(amount)}`]
      })
      .join(',')
  throw refuse(`exceeded quota: ${quota.metadata?.name}, requested: ${text(requested)}, used: ${text(used)}, limited: ${text(hard)}`)
}

/** New state of a quota. Equals the stored state while the usage is not counted yet: the commit then changes only the revision. */
interface Charge {
  readonly quota: CachedQuota
  readonly charged: ResourceQuota
}

export const isCharged = (quotas: readonly CachedQuota[], write: CountedWrite): boolean =>
  quotas.some(({ object }) => deltaFor(object, write).size > 0 || isBeingCounted(object, write))

export function chargesOf(quotas: readonly CachedQuota[], write: CountedWrite): readonly Charge[] {
  return quotas.flatMap((quota) => {
    const { object } = quota
    const delta = deltaFor(object, write)
    const charged = delta.size === 0 ? object : withUsed(object, addAmounts(amountsOf(object.status?.used), delta))
    return delta.size > 0 || isBeingCounted(object, write) ? [{ quota, charged }] : []
  })
}

const withUsed = (quota: ResourceQuota, used: Amounts): ResourceQuota => ({
  ...quota,
  status: { ...quota.status, used: writeAmounts(used) },
})

function deltaFor(quota: ResourceQuota, write: CountedWrite): Amounts {
  const { used = {} } = quota.status ?? {}
  const usageOf = (object: ApiObject | undefined): Amounts => {
    if (object === undefined || !isCounted(quota, write, object)) return noAmounts
    return filterAmounts(cachedUsage(write, object), (name) => used[name] !== undefined)
  }
  return filterAmounts(subtractAmounts(usageOf(write.next), usageOf(write.old)), () => true)
}

const usageCache = weakMemoize((_: CountedWrite) => new Map<ApiObject, Amounts>())
const cachedUsage = (write: CountedWrite, object: ApiObject): Amounts =>
  getOrInsert(usageCache(write), object, () => write.evaluator.usage(object, write))

const readAmountsCached = weakMemoize(readAmounts as (written: WrittenAmounts) => Amounts)
const amountsOf = (written: WrittenAmounts | undefined): Amounts => (written === undefined ? noAmounts : readAmountsCached(written))

/** Objects whose scope cannot be determined are not counted, as in the full recount. */
function isCounted(quota: ResourceQuota, { evaluator }: CountedWrite, object: ApiObject): boolean {
  try {
    return isInScopes(evaluator, quota, object)
  } catch {
    return false
  }
}

/** True while the usage is still being counted: the write then updates the quota, so that the running count repeats. */
function isBeingCounted({ spec, status }: ResourceQuota, { evaluator, identity }: CountedWrite): boolean {
  return limitedNames(evaluator, spec?.hard, identity).some((name) => status?.used?.[name] === undefined)
}
