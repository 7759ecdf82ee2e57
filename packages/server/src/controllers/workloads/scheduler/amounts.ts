// Amounts of resources as numbers: cpu in thousandths, everything else in whole units, rounded up.

import { parseQuantity, quantityMilliValue, quantityValue } from '@cluster-apiserver/api/schema/quantity.js'

export type Amounts = ReadonlyMap<string, number>

interface Resources {
  readonly [name: string]: string
}

/** Quantities that a program reads from objects are valid, and few differ. */
const parsed = new Map<string, number>()
const maxParsed = 4096

export function amountOf(name: string, quantity: string): number {
  const isCpu = name === 'cpu'
  const key = isCpu ? `m${quantity}` : quantity
  const known = parsed.get(key)
  if (known !== undefined) return known
  const value = parseQuantity(quantity)
  const amount = Number(isCpu ? quantityMilliValue(value) : quantityValue(value))
  if (parsed.size >= maxParsed) parsed.clear()
  parsed.set(key, amount)
  return amount
}

/** The scheduler knows these and extended resources, huge pages and attachable volumes. */
const isCounted = (name: string): boolean =>
  name === 'cpu' ||
  name === 'memory' ||
  name === 'ephemeral-storage' ||
  name.includes('/') ||
  name.startsWith('hugepages-') ||
  name.startsWith('attachable-volumes-')

export function amountsOf(resources: Resources | undefined): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const [name, quantity] of Object.entries(resources ?? {})) if (isCounted(name)) amounts.set(name, amountOf(name, quantity))
  return amounts
}

export function addAmounts(to: Map<string, number>, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [name, amount] of amounts) to.set(name, (to.get(name) ?? 0) + sign * amount)
}

export function raiseAmounts(to: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) if (amount > (to.get(name) ?? 0)) to.set(name, amount)
}
