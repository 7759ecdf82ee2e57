// What objects use of a namespace's quota: each kind is counted, and some are measured by what they ask for.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import type { ScopedResourceSelectorRequirement } from '../core/v1.schema.js'
import { type Amounts, one } from './amounts.js'
import { claimEvaluator } from './claim-usage.js'
import { podEvaluator } from './pod-usage.js'
import { serviceEvaluator } from './service-usage.js'

export interface UsageContext {
  readonly identity: Identity
  /** Milliseconds since 1970. */
  readonly now: number
}

/** How objects of one kind are measured. */
export interface QuotaEvaluator {
  usage(object: ApiObject, context: UsageContext): Amounts
  /** Whether a quota for this amount has a say about objects of the kind. */
  counts(name: string, identity: Identity): boolean
  /** Whether a scope contains the object; throws where the scope cannot be understood. */
  isInScope(scope: ScopedResourceSelectorRequirement, object: ApiObject): boolean
  /** What the object fails to say of what a quota limits. */
  constraintProblem(limited: readonly string[], object: ApiObject): string | undefined
  /** Whether a change of the object may be refused for what it uses more; its creation may always be. */
  readonly checksUpdates: boolean
  /** Every object counts the same, whatever is in it. */
  readonly isPlainCount?: boolean
}

/** Quotas that could count them under a short name before all kinds could be counted. */
const shortNamed = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']

/** Kinds that come and go by themselves. */
const ignored = (collection: string): boolean => collection === 'events' || collection.startsWith('events.')

const known = new Map<string, QuotaEvaluator | undefined>()

/** By the name of the collection, such as `deployments.apps`; undefined where nothing counts. */
export function evaluatorOf(collection: string): QuotaEvaluator | undefined {
  const before = known.get(collection)
  if (before !== undefined || known.has(collection)) return before
  const evaluator = makeEvaluator(collection)
  if (known.size >= mostKnown) known.clear()
  known.set(collection, evaluator)
  return evaluator
}

const mostKnown = 10_000

function makeEvaluator(collection: string): QuotaEvaluator | undefined {
  if (ignored(collection)) return undefined
  switch (collection) {
    case 'pods':
      return podEvaluator
    case 'services':
      return serviceEvaluator
    case 'persistentvolumeclaims':
      return claimEvaluator
    default:
      return countingEvaluator(collection)
  }
}

export const countName = (collection: string): string => `count/${collection}`

function countingEvaluator(collection: string): QuotaEvaluator {
  const names = [countName(collection), ...(shortNamed.includes(collection) ? [collection] : [])]
  const usage: Amounts = new Map(names.map((name) => [name, one]))
  return {
    usage: () => usage,
    counts: (name) => usage.has(name),
    isInScope: () => false,
    constraintProblem: () => undefined,
    checksUpdates: false,
    isPlainCount: true,
  }
}
