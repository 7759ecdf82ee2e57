// How a pod is treated when its node runs short: guaranteed what it asks for, given what is left, or the first to go.

import { addQuantities, compareQuantities, isZeroQuantity, parseQuantity, type Quantity } from '../../../schema/quantity.js'
import type { PodSpec } from '../v1.schema.js'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const counted = ['cpu', 'memory'] as const

type Amounts = { readonly [name: string]: string } | undefined
type Sums = Map<string, Quantity>

/** Adds what is above zero, and tells how much of that there is. */
function addTo(sums: Sums, amounts: Amounts): number {
  let found = 0
  for (const name of counted) {
    const text = amounts?.[name]
    if (text === undefined || text.startsWith('-')) continue
    const amount = parseQuantity(text)
    if (isZeroQuantity(amount)) continue
    const sum = sums.get(name)
    sums.set(name, sum === undefined ? amount : addQuantities(sum, amount))
    found++
  }
  return found
}

export function qosClassOf({ containers = [], initContainers = [] }: PodSpec): QosClass {
  const requests: Sums = new Map()
  const limits: Sums = new Map()
  let isLimited = true
  for (const { resources } of [...containers, ...initContainers]) {
    addTo(requests, resources?.requests)
    if (addTo(limits, resources?.limits) < counted.length) isLimited = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  return isLimited && isSame(requests, limits) ? 'Guaranteed' : 'Burstable'
}

function isSame(requests: Sums, limits: Sums): boolean {
  if (requests.size !== limits.size) return false
  for (const [name, amount] of requests) {
    const limit = limits.get(name)
    if (limit === undefined || compareQuantities(amount, limit) !== 0) return false
  }
  return true
}
