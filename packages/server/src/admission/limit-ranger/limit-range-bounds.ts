// LimitRange bounds: checks minimum, maximum and limit/request ratio of containers, pods and PersistentVolumeClaims.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { LimitRangeItem, PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import {
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  quantityMilliValue,
  quantityValue,
} from '@cluster-apiserver/api/schema/quantity.js'

export type Amounts = { readonly [resource: string]: string }
type Quantities = ReadonlyMap<string, Quantity>

interface Requirements {
  readonly requests: Quantities
  readonly limits: Quantities
}

const quantitiesOf = (amounts: Amounts | undefined): Quantities =>
  new Map(Object.entries(amounts ?? {}).map(([name, text]) => [name, parseQuantity(text)]))

const sortedQuantities = (amounts: Amounts | undefined): readonly (readonly [string, Quantity])[] =>
  Object.entries(amounts ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, text]) => [name, parseQuantity(text)])

export function podProblems(items: readonly LimitRangeItem[], spec: PodSpec): readonly string[] {
  return items.flatMap((item) => {
    if (item.type === 'Pod') return problemsOf(item, podRequirements(spec))
    if (item.type !== 'Container') return []
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      problemsOf(item, requirementsOf(resources)),
    )
  })
}

export function claimProblems(items: readonly LimitRangeItem[], requests: Amounts): readonly string[] {
  const required = { requests: quantitiesOf(requests), limits: new Map<string, Quantity>() }
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...sortedQuantities(item.min).flatMap(([name, bound]) => minimumProblem(item, { name, bound, required })),
      ...sortedQuantities(item.max).flatMap(([name, bound]) => maximumRequestProblem(item, { name, bound, required })),
    ])
}

const problemsOf = (item: LimitRangeItem, required: Requirements): readonly string[] => [
  ...sortedQuantities(item.min).flatMap(([name, bound]) => minimumProblem(item, { name, bound, required })),
  ...sortedQuantities(item.max).flatMap(([name, bound]) => maximumProblem(item, { name, bound, required })),
  ...sortedQuantities(item.maxLimitRequestRatio).flatMap(([name, bound]) => ratioProblem(item, { name, bound, required })),
]

type Resources = { readonly requests?: Amounts; readonly limits?: Amounts } | undefined

const requirementsOf = (resources: Resources): Requirements => ({
  requests: quantitiesOf(resources?.requests),
  limits: quantitiesOf(resources?.limits),
})

/** Per resource: sum of all containers, or the largest init container if that is more. */
function podRequirements({ containers = [], initContainers = [] }: PodSpec): Requirements {
  const containerRequirements = containers.map(({ resources }) => requirementsOf(resources))
  const initContainerRequirements = initContainers.map(({ resources }) => requirementsOf(resources))
  const totals = (field: keyof Requirements): Quantities => {
    const sums = sumOf(containerRequirements.map((required) => required[field]))
    for (const required of initContainerRequirements) {
      for (const [name, quantity] of required[field]) {
        const before = sums.get(name)
        if (before === undefined || compareQuantities(quantity, before) > 0) sums.set(name, quantity)
      }
    }
    return sums
  }
  return { requests: totals('requests'), limits: totals('limits') }
}

function sumOf(all: readonly Quantities[]): Map<string, Quantity> {
  const sums = new Map<string, Quantity>()
  for (const name of new Set(all.flatMap((each) => [...each.keys()]))) {
    if (!all.every((each) => each.has(name))) continue
    // As in kube-apiserver: CPU in thousandths, everything else in whole units.
    const exponent = name === 'cpu' ? -3 : 0
    const unitsOf = exponent === 0 ? quantityValue : quantityMilliValue
    const unscaled = all.reduce((sum, each) => sum + unitsOf(each.get(name) as Quantity), 0n)
    sums.set(name, { unscaled, exponent, format: 'decimal' })
  }
  return sums
}

interface BoundCheck {
  readonly name: string
  readonly bound: Quantity
  readonly required: Requirements
}

function minimumProblem({ type }: LimitRangeItem, { name, bound, required }: BoundCheck): readonly string[] {
  const request = required.requests.get(name)
  const limit = required.limits.get(name)
  const rule = `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return [`${rule}.  No request is specified`]
  if (isLess(request, bound)) return [`${rule}, but request is ${printQuantity(request)}`]
  return limit !== undefined && isLess(limit, bound) ? [`${rule}, but limit is ${printQuantity(limit)}`] : []
}

function maximumProblem({ type }: LimitRangeItem, { name, bound, required }: BoundCheck): readonly string[] {
  const request = required.requests.get(name)
  const limit = required.limits.get(name)
  const rule = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (limit === undefined) return [`${rule}.  No limit is specified`]
  if (isLess(bound, limit)) return [`${rule}, but limit is ${printQuantity(limit)}`]
  return request !== undefined && isLess(bound, request) ? [`${rule}, but request is ${printQuantity(request)}`] : []
}

function maximumRequestProblem({ type }: LimitRangeItem, { name, bound, required }: BoundCheck): readonly string[] {
  const request = required.requests.get(name)
  const rule = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return [`${rule}.  No request is specified`]
  return isLess(bound, request) ? [`${rule}, but request is ${printQuantity(request)}`] : []
}

function ratioProblem({ type }: LimitRangeItem, { name, bound, required }: BoundCheck): readonly string[] {
  const request = Number(quantityMilliValue(required.requests.get(name) ?? zero))
  const limit = Number(quantityMilliValue(required.limits.get(name) ?? zero))
  const rule = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === 0) return [`${rule}, but no request is specified or request is 0`]
  if (limit === 0) return [`${rule}, but no limit is specified or limit is 0`]
  const ratio = limit / request
  return ratio * 1000 > Number(quantityMilliValue(bound)) ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : []
}

const zero: Quantity = { unscaled: 0n, exponent: 0, format: 'decimal' }

/** Compares in thousandths, rounded up. */
const isLess = (a: Quantity, b: Quantity): boolean => quantityMilliValue(a) < quantityMilliValue(b)
