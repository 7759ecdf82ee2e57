// QoS class of a pod: Guaranteed, Burstable or BestEffort, from its requests and limits.

import { addQuantities, compareQuantities, isZeroQuantity, parseQuantity, type Quantity } from '../../../schema/quantity.js'
import type { PodSpec } from '../v1.schema.js'

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const qosResources = ['cpu', 'memory'] as const

type Amounts = { readonly [name: string]: string } | undefined
type Sums = Map<string, Quantity>

function addTo(sums: Sums, amounts: Amounts): number {
  let count = 0
  for (const name of qosResources) {
    const text = amounts?.[name]
    if (text === undefined || text.startsWith('-')) continue
    const amount = parseQuantity(text)
    if (isZeroQuantity(amount)) continue
    const sum = sums.get(name)
    sums.set(name, sum === undefined ? amount : addQuantities(sum, amount))
    count++
  }
  return count
}

export function qosClassOf({ containers = [], initContainers = [] }: PodSpec): QosClass {
  const requests: Sums = new Map()
  const limits: Sums = new Map()
  let isLimited = true
  for (const { resources } of [...containers, ...initContainers]) {
    addTo(requests, resources?.requests)
    if (addTo(limits, resources?.limits) < qosResources.length) isLimited = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  return isLimited && haveSameSums(requests, limits) ? 'Guaranteed' : 'Burstable'
}

function haveSameSums(requests: Sums, limits: Sums): boolean {
  if (requests.size !== limits.size) return false
  for (const [name, amount] of requests) {
    const limit = limits.get(name)
    if (limit === undefined || compareQuantities(amount, limit) !== 0) return false
  }
  return true
}
