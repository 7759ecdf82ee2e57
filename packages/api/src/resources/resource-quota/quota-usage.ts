// Usage of ResourceQuotas by kind: Services, PersistentVolumeClaims, Pods, and object counts for all other kinds except events.

import type { Identity } from '../../api/identity.js'
import { parseQuantity, type Quantity, roundUpQuantity } from '../../schema/quantity.js'
import type { PersistentVolumeClaim, Service } from '../core/v1.schema.js'
import { podEvaluator } from './pod-quota-usage.js'
import type { QuotaEvaluator, UsageContext } from './quota-evaluator.js'
import { type Amounts, countOf, one } from './resource-amounts.js'

const zero = countOf(0)
const serviceCounts = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])

const serviceEvaluator: QuotaEvaluator = {
  usage: (object) => serviceUsage(object as Service),
  counts: (name) => serviceCounts.has(name),
  isInScope: () => false,
  constraintProblem: () => undefined,
  checksUpdates: true,
}

function serviceUsage({ spec = {} }: Service): Amounts {
  const usage = new Map<string, Quantity>([
    ['count/services', one],
    ['services', one],
    ['services.nodeports', zero],
    ['services.loadbalancers', zero],
  ])
  const ports = spec.ports ?? []
  if (spec.type === 'NodePort') usage.set('services.nodeports', countOf(ports.length))
  if (spec.type === 'LoadBalancer') {
    const isSuppressed = spec.allocateLoadBalancerNodePorts === false
    const portsWithNodePort = isSuppressed ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0) : ports
    usage.set('services.nodeports', countOf(portsWithNodePort.length))
    usage.set('services.loadbalancers', one)
  }
  return usage
}

/** Resources whose object count is also limited by a short name, such as `secrets` for `count/secrets`. */
const shortNamed = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']

/** Events are not counted. */
const isUncounted = (collection: string): boolean => collection === 'events' || collection.startsWith('events.')

const evaluatorCache = new Map<string, QuotaEvaluator | undefined>()

/** `collection`: such as `deployments.apps`. Returns undefined for events, which quotas do not count. */
export function evaluatorOf(collection: string): QuotaEvaluator | undefined {
  const cached = evaluatorCache.get(collection)
  if (cached !== undefined || evaluatorCache.has(collection)) return cached
  const evaluator = createEvaluator(collection)
  if (evaluatorCache.size >= maxCachedEvaluators) evaluatorCache.clear()
  evaluatorCache.set(collection, evaluator)
  return evaluator
}

const maxCachedEvaluators = 10_000

function createEvaluator(collection: string): QuotaEvaluator | undefined {
  if (isUncounted(collection)) return undefined
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

const countName = (collection: string): string => `count/${collection}`

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

const claimCounts = new Set(['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage'])

const classSuffix = (identity: Identity): string => `.${identity.group({ stem: 'storageclass.storage' })}/`

const claimEvaluator: QuotaEvaluator = {
  usage: (object, context) => claimUsage(object as PersistentVolumeClaim, context),
  counts: (name, identity) =>
    claimCounts.has(name) ||
    name.endsWith(`${classSuffix(identity)}requests.storage`) ||
    name.endsWith(`${classSuffix(identity)}persistentvolumeclaims`),
  isInScope: () => false,
  constraintProblem: () => undefined,
  checksUpdates: true,
}

function claimUsage({ metadata, spec = {} }: PersistentVolumeClaim, { identity }: UsageContext): Amounts {
  const usage = new Map<string, Quantity>([
    ['count/persistentvolumeclaims', one],
    ['persistentvolumeclaims', one],
  ])
  const className = metadata?.annotations?.[identity.label('storage-class', 'volume.beta')] ?? spec.storageClassName ?? ''
  const prefix = `${className}${classSuffix(identity)}`
  if (className !== '') usage.set(`${prefix}persistentvolumeclaims`, one)
  const text = spec.resources?.requests?.['storage']
  if (text !== undefined) {
    const storage = roundUpQuantity(parseQuantity(text), 0)
    usage.set('requests.storage', storage)
    if (className !== '') usage.set(`${prefix}requests.storage`, storage)
  }
  return usage
}
