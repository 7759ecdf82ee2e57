// The units of cost. They are the same on every machine, so that what is accepted here is accepted elsewhere.

export const costs = {
  selectOrName: 1n,
  list: 10n,
  map: 30n,
  message: 40n,
  /** For each letter of a text that is walked through. */
  perLetter: 0.1,
  /** For each letter of a regular expression. */
  perPatternLetter: 0.25,
} as const

/** Costs and sizes stop here. */
export const maxCost = (1n << 64n) - 1n

const maxNumber = 2 ** 64

/** Times a factor, rounded up. */
export function scale(value: bigint, factor: number): bigint {
  const number = Number(value)
  if (number > maxNumber / factor) return maxCost
  const product = Math.ceil(number * factor)
  // The reference converts what does not fit into half of the range; limits that it sets are far below either.
  return product >= maxNumber ? 1n << 63n : BigInt(product)
}
