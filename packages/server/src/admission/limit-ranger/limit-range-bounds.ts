// The bounds of limit ranges: what is asked for is compared with minimum, maximum and ratio, for containers, whole pods and claims.

import { compareText } from '../base/text-order.js'
import type { LimitRangeItem, PodSpec } from '../resources/core/v1.schema.js'
import { compareQuantities, parseQuantity, printQuantity, type Quantity, quantityMilliValue, quantityValue } from '../schema/quantity.js'

export type Amounts = { readonly [resource: string]: string }
type Quantities = ReadonlyMap<string, Quantity>

/** What a container or a pod asks for. */
interface Asked {
  readonly requests: Quantities
  readonly limits: Quantities
}

const quantitiesOf = (amounts: Amounts | undefined): Quantities =>
  new Map(Object.entries(amounts ?? {}).map(([name, text]) => [name, parseQuantity(text)]))

const entriesOf = (amounts: Amounts | undefined): readonly (readonly [string, Quantity])[] =>
  Object.entries(amounts ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, text]) => [name, parseQuantity(text)])

export function podProblems(items: readonly LimitRangeItem[], spec: PodSpec): readonly string[] {
  return items.flatMap((item) => {
    if (item.type === 'Pod') return problemsOf(item, askedByPod(spec))
    if (item.type !== 'Container') return []
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) => problemsOf(item, askedBy(resources)))
  })
}

export function claimProblems(items: readonly LimitRangeItem[], requests: Amounts): readonly string[] {
  const asked = { requests: quantitiesOf(requests), limits: new Map<string, Quantity>() }
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...entriesOf(item.min).flatMap(([name, bound]) => minimumProblem(item, { name, bound, asked })),
      ...entriesOf(item.max).flatMap(([name, bound]) => maximumRequestProblem(item, { name, bound, asked })),
    ])
}

const problemsOf = (item: LimitRangeItem, asked: Asked): readonly string[] => [
  ...entriesOf(item.min).flatMap(([name, bound]) => minimumProblem(item, { name, bound, asked })),
  ...entriesOf(item.max).flatMap(([name, bound]) => maximumProblem(item, { name, bound, asked })),
  ...entriesOf(item.maxLimitRequestRatio).flatMap(([name, bound]) => ratioProblem(item, { name, bound, asked })),
]

type Resources = { readonly requests?: Amounts; readonly limits?: Amounts } | undefined

const askedBy = (resources: Resources): Asked => ({
  requests: quantitiesOf(resources?.requests),
  limits: quantitiesOf(resources?.limits),
})

/** The sum of what all containers ask for, or what one asks for that runs before them, if that is more. */
function askedByPod({ containers = [], initContainers = [] }: PodSpec): Asked {
  const all = containers.map(({ resources }) => askedBy(resources))
  const first = initContainers.map(({ resources }) => askedBy(resources))
  const of = (which: keyof Asked): Quantities => {
    const sums = sumOf(all.map((asked) => asked[which]))
    for (const asked of first) {
      for (const [name, quantity] of asked[which]) {
        const before = sums.get(name)
        if (before === undefined || compareQuantities(quantity, before) > 0) sums.set(name, quantity)
      }
    }
    return sums
  }
  return { requests: of('requests'), limits: of('limits') }
}

/** Of what every one says; what one leaves out has no sum. */
function sumOf(all: readonly Quantities[]): Map<string, Quantity> {
  const sums = new Map<string, Quantity>()
  for (const name of new Set(all.flatMap((each) => [...each.keys()]))) {
    if (!all.every((each) => each.has(name))) continue
    // As the reference counts them: processors in thousandths, everything else in whole units.
    const exponent = name === 'cpu' ? -3 : 0
    const countOf = exponent === 0 ? quantityValue : quantityMilliValue
    const unscaled = all.reduce((sum, each) => sum + countOf(each.get(name) as Quantity), 0n)
    sums.set(name, { unscaled, exponent, format: 'decimal' })
  }
  return sums
}

interface Bound {
  readonly name: string
  readonly bound: Quantity
  readonly asked: Asked
}

function minimumProblem({ type }: LimitRangeItem, { name, bound, asked }: Bound): readonly string[] {
  const request = asked.requests.get(name)
  const limit = asked.limits.get(name)
  const rule = `minimum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return [`${rule}.  No request is specified`]
  if (isLess(request, bound)) return [`${rule}, but request is ${printQuantity(request)}`]
  return limit !== undefined && isLess(limit, bound) ? [`${rule}, but limit is ${printQuantity(limit)}`] : []
}

function maximumProblem({ type }: LimitRangeItem, { name, bound, asked }: Bound): readonly string[] {
  const request = asked.requests.get(name)
  const limit = asked.limits.get(name)
  const rule = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (limit === undefined) return [`${rule}.  No limit is specified`]
  if (isLess(bound, limit)) return [`${rule}, but limit is ${printQuantity(limit)}`]
  return request !== undefined && isLess(bound, request) ? [`${rule}, but request is ${printQuantity(request)}`] : []
}

function maximumRequestProblem({ type }: LimitRangeItem, { name, bound, asked }: Bound): readonly string[] {
  const request = asked.requests.get(name)
  const rule = `maximum ${name} usage per ${type} is ${printQuantity(bound)}`
  if (request === undefined) return [`${rule}.  No request is specified`]
  return isLess(bound, request) ? [`${rule}, but request is ${printQuantity(request)}`] : []
}

function ratioProblem({ type }: LimitRangeItem, { name, bound, asked }: Bound): readonly string[] {
  const request = Number(quantityMilliValue(asked.requests.get(name) ?? none))
  const limit = Number(quantityMilliValue(asked.limits.get(name) ?? none))
  const rule = `${name} max limit to request ratio per ${type} is ${printQuantity(bound)}`
  if (request === 0) return [`${rule}, but no request is specified or request is 0`]
  if (limit === 0) return [`${rule}, but no limit is specified or limit is 0`]
  const ratio = limit / request
  return ratio * 1000 > Number(quantityMilliValue(bound)) ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : []
}

const none: Quantity = { unscaled: 0n, exponent: 0, format: 'decimal' }

/** What is finer than a thousandth does not count. */
const isLess = (a: Quantity, b: Quantity): boolean => quantityMilliValue(a) < quantityMilliValue(b)
