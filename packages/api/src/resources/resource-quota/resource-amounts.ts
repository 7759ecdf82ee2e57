// ResourceList arithmetic: quantities by resource name, for quota usage and limits.

import {
  addQuantities,
  compareQuantities,
  isZeroQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  subtractQuantities,
} from '../../schema/quantity.js'

export type Amounts = ReadonlyMap<string, Quantity>

export type WrittenAmounts = { readonly [name: string]: string }

export const noAmounts: Amounts = new Map()

export const one: Quantity = { unscaled: 1n, exponent: 0, format: 'decimal', text: '1' }

export const countOf = (count: number): Quantity => ({ unscaled: BigInt(count), exponent: 0, format: 'decimal' })

export function readAmounts(written: WrittenAmounts | undefined): Amounts {
  if (written === undefined) return noAmounts
  return new Map(Object.entries(written).map(([name, text]) => [name, parseQuantity(text)]))
}

export const writeAmounts = (amounts: Amounts): WrittenAmounts =>
  Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, printQuantity(amount)]))

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a
  const sum = new Map(a)
  for (const [name, amount] of b) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : addQuantities(before, amount))
  }
  return sum
}

export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a
  const difference = new Map(a)
  for (const [name, amount] of b) difference.set(name, subtractQuantities(difference.get(name) ?? countOf(0), amount))
  return difference
}

export function largerAmounts(a: Amounts, b: Amounts): Amounts {
  if (b.size === 0) return a
  const larger = new Map(a)
  for (const [name, amount] of b) {
    const before = larger.get(name)
    if (before === undefined || compareQuantities(before, amount) <= 0) larger.set(name, amount)
  }
  return larger
}

export function filterAmounts(amounts: Amounts, hasName: (name: string) => boolean): Amounts {
  const filtered = new Map<string, Quantity>()
  for (const [name, amount] of amounts) if (hasName(name) && !isZeroQuantity(amount)) filtered.set(name, amount)
  return filtered
}
