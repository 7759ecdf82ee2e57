// What a pod uses: the sum of what its containers ask for, as long as it runs.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { compareText } from '../../base/text-order.js'
import type { Quantity } from '../../schema/quantity.js'
import { isExtended, isHugePages, isNative } from '../core/pod-spec/resource-names.js'
import type { Container, PodSpec, ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import { type Amounts, addAmounts, largerAmounts, one, readAmounts } from './amounts.js'
import type { QuotaEvaluator, UsageContext } from './evaluator.js'
import { isPodInScope } from './pod-scopes.js'

export interface MeasuredPod extends ApiObject {
  readonly spec?: PodSpec
  readonly status?: { readonly phase?: string }
}

const count: Amounts = new Map([['count/pods', one]])
const measured = ['cpu', 'memory', 'ephemeral-storage']
const counted = new Set(['count/pods', 'pods', ...measured.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])])
/** Of these each container must say something where a quota limits them. */
const required = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])
const requests = 'requests.'

export const podEvaluator: QuotaEvaluator = {
  usage: (object, context) => podUsage(object as MeasuredPod, context),
  counts: (name, identity) =>
    counted.has(name) || isHugePages(name) || name.startsWith(`${requests}hugepages-`) || isExtendedRequest(name, identity),
  isInScope: (scope: ScopedResourceSelectorRequirement, object) => isPodInScope(scope, object as MeasuredPod),
  constraintProblem: (limited, object) => constraintProblem(limited, (object as MeasuredPod).spec ?? {}),
  checksUpdates: false,
}

const isExtendedRequest = (name: string, identity: Identity): boolean => name.startsWith(requests) && !isNative(name, identity)

function podUsage(pod: MeasuredPod, { identity, now }: UsageContext): Amounts {
  if (!isCounted(pod, now)) return count
  const { containers = [], initContainers = [], overhead } = pod.spec ?? {}
  const sum = (which: 'requests' | 'limits'): Amounts => {
    let total: Amounts = new Map()
    for (const { resources } of containers) total = addAmounts(total, readAmounts(resources?.[which]))
    // They run one after the other before the rest.
    for (const { resources } of initContainers) total = largerAmounts(total, readAmounts(resources?.[which]))
    return addAmounts(total, readAmounts(overhead))
  }
  return addAmounts(usageOf(sum('requests'), sum('limits'), identity), count)
}

/** Whether it runs or will: not what has ended, nor what should have been gone for long, whose node is lost. */
function isCounted({ metadata, status }: MeasuredPod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return now <= Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** When a pod that is being deleted counts no more, whether or not it is gone; undefined where that will not be. */
export function endOfUsage({ metadata }: ApiObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {}
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined
  return Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

function usageOf(asked: Amounts, limits: Amounts, identity: Identity): Amounts {
  const usage = new Map<string, Quantity>([['pods', one]])
  for (const name of measured) {
    const request = asked.get(name)
    if (request !== undefined) {
      usage.set(name, request)
      usage.set(`${requests}${name}`, request)
    }
    const limit = limits.get(name)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of asked) {
    if (isHugePages(name)) {
      usage.set(name, request)
      usage.set(`${requests}${name}`, request)
    } else if (isExtended(name, identity)) usage.set(`${requests}${name}`, request)
  }
  return usage
}

function constraintProblem(limited: readonly string[], { containers = [], initContainers = [] }: PodSpec): string | undefined {
  const wanted = limited.filter((name) => required.has(name))
  if (wanted.length === 0) return undefined
  const missing = new Map<string, Set<string>>()
  for (const container of [...containers, ...initContainers]) {
    for (const name of wanted) {
      if (isSaid(container, name)) continue
      const names = missing.get(name) ?? new Set()
      missing.set(name, names.add(container.name ?? ''))
    }
  }
  if (missing.size === 0) return undefined
  const parts = [...missing]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, names]) => `${name} for: ${[...names].sort(compareText).join(',')}`)
  return `must specify ${parts.join('; ')}`
}

function isSaid({ resources }: Container, name: string): boolean {
  if (name.startsWith('limits.')) return resources?.limits?.[name.slice('limits.'.length)] !== undefined
  return resources?.requests?.[name.startsWith(requests) ? name.slice(requests.length) : name] !== undefined
}
