// What a service uses: itself, its ports on nodes, and its load balancer.

import type { Quantity } from '../../schema/quantity.js'
import type { Service } from '../core/v1.schema.js'
import { type Amounts, countOf, one } from './amounts.js'
import type { QuotaEvaluator } from './evaluator.js'

const none = countOf(0)
const counted = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])

export const serviceEvaluator: QuotaEvaluator = {
  usage: (object) => serviceUsage(object as Service),
  counts: (name) => counted.has(name),
  isInScope: () => false,
  constraintProblem: () => undefined,
  checksUpdates: true,
}

function serviceUsage({ spec = {} }: Service): Amounts {
  const usage = new Map<string, Quantity>([
    ['count/services', one],
    ['services', one],
    ['services.nodeports', none],
    ['services.loadbalancers', none],
  ])
  const ports = spec.ports ?? []
  if (spec.type === 'NodePort') usage.set('services.nodeports', countOf(ports.length))
  if (spec.type === 'LoadBalancer') {
    const isSuppressed = spec.allocateLoadBalancerNodePorts === false
    const taken = isSuppressed ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0) : ports
    usage.set('services.nodeports', countOf(taken.length))
    usage.set('services.loadbalancers', one)
  }
  return usage
}
