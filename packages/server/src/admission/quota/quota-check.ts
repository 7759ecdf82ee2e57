// Whether the quotas of a namespace have room for a write, and what they count for it.

import type { ApiError } from '../../api/api-error.js'
import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import { compareText } from '../../base/text-order.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../resources/core/v1.schema.js'
import {
  type Amounts,
  addAmounts,
  noAmounts,
  onlyAmounts,
  readAmounts,
  subtractAmounts,
  type WrittenAmounts,
  writeAmounts,
} from '../../resources/quota/amounts.js'
import type { QuotaEvaluator } from '../../resources/quota/evaluator.js'
import { isInScopes, limitedNames, matchesQuota, scopesOf } from '../../resources/quota/quota-match.js'
import { compareQuantities, printQuantity } from '../../schema/quantity.js'
import type { LimitedResource } from '../config/quota-settings.js'
import type { Kept } from '../kept-by-namespace.js'

/** A write as quotas see it: an object that comes, changes or goes. */
export interface CountedWrite {
  readonly evaluator: QuotaEvaluator
  /** Such as `deployments.apps`, with its two parts. */
  readonly resource: { readonly group: string; readonly name: string }
  readonly next: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly identity: Identity
  readonly now: number
  readonly refuse: (why: string) => ApiError
}

export type KeptQuota = Kept<ResourceQuota>

/** Throws where a quota has no room for what the write adds, or cannot tell. */
export function checkQuotas(quotas: readonly KeptQuota[], write: CountedWrite, limited: readonly LimitedResource[]): void {
  const { evaluator, next, old, identity, refuse } = write
  if (next === undefined) return
  const concerned = limited.filter(({ apiGroup, resource }) => apiGroup === write.resource.group && resource === write.resource.name)
  if (quotas.length === 0 && concerned.length === 0) return
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
  const delta = onlyAmounts(old === undefined ? usage : subtractAmounts(usage, evaluator.usage(old, context)), () => true)
  if (delta.size === 0) return
  checkCovered(write, concerned, { usage, covered, quotas, next })
  for (const { object } of matching) checkRoom(write, object, delta)
}

/** A scope that cannot be understood is the fault of the quota, and told to whoever meets it. */
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
  readonly quotas: readonly KeptQuota[]
  readonly next: ApiObject
}

/** What is limited by configuration needs a quota that counts it. */
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
  scopesOf(quota).some((own) => own.scopeName === scope.scopeName && evaluator.isInScope(own, next))

function checkRoom({ refuse }: CountedWrite, quota: ResourceQuota, delta: Amounts): void {
  const hard = amountsOf(quota.status?.hard)
  const used = amountsOf(quota.status?.used)
  const wanted = onlyAmounts(delta, (name) => hard.has(name))
  const after = addAmounts(used, wanted)
  const exceeded = [...wanted].flatMap(([name, amount]) => {
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
  throw refuse(`exceeded quota: ${quota.metadata?.name}, requested: ${text(wanted)}, used: ${text(used)}, limited: ${text(hard)}`)
}

/** What a quota says from now on; where it is the same as before, the quota must not change before the write is stored. */
export interface Charge {
  readonly quota: KeptQuota
  readonly charged: ResourceQuota
}

/** Whether a quota counts the write. */
export const isCharged = (quotas: readonly KeptQuota[], write: CountedWrite): boolean =>
  quotas.some(({ object }) => deltaFor(object, write).size > 0 || isUnsettled(object, write))

/** The quotas that count the write, each with what is used after it. */
export function chargesOf(quotas: readonly KeptQuota[], write: CountedWrite): readonly Charge[] {
  return quotas.flatMap((quota) => {
    const { object } = quota
    const delta = deltaFor(object, write)
    const charged = delta.size === 0 ? object : withUsed(object, addAmounts(amountsOf(object.status?.used), delta))
    return delta.size > 0 || isUnsettled(object, write) ? [{ quota, charged }] : []
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
    return onlyAmounts(usageBy(write, object), (name) => used[name] !== undefined)
  }
  return onlyAmounts(subtractAmounts(usageOf(write.next), usageOf(write.old)), () => true)
}

/** Hundreds of quotas may ask for the same. */
const usagesOf = onceFor((_: CountedWrite) => new Map<ApiObject, Amounts>())
const usageBy = (write: CountedWrite, object: ApiObject): Amounts =>
  getOrInsert(usagesOf(write), object, () => write.evaluator.usage(object, write))

const readOnce = onceFor(readAmounts as (written: WrittenAmounts) => Amounts)
const amountsOf = (written: WrittenAmounts | undefined): Amounts => (written === undefined ? noAmounts : readOnce(written))

/** What cannot be told is not counted, here as where everything is counted anew. */
function isCounted(quota: ResourceQuota, { evaluator }: CountedWrite, object: ApiObject): boolean {
  try {
    return isInScopes(evaluator, quota, object)
  } catch {
    return false
  }
}

/**
 * Whether the quota counts the kind, and how much there is of it is being found out: whoever writes meanwhile changes the quota, too, so that the
 * count that is under way is done again.
 */
function isUnsettled({ spec, status }: ResourceQuota, { evaluator, identity }: CountedWrite): boolean {
  return limitedNames(evaluator, spec?.hard, identity).some((name) => status?.used?.[name] === undefined)
}
