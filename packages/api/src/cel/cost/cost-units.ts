// Cost units of CEL. Equal to the costs in kube-apiserver, so that both accept the same expressions.

export const costs = {
  selectOrName: 1n,
  list: 10n,
  map: 30n,
  message: 40n,
  perChar: 0.1,
  perPatternChar: 0.25,
} as const

export const maxCost = (1n << 64n) - 1n

const maxNumber = 2 ** 64

export function scale(value: bigint, factor: number): bigint {
  const number = Number(value)
  if (number > maxNumber / factor) return maxCost
  const product = Math.ceil(number * factor)
  // kube-apiserver returns 2^63 here, far above its cost limits.
  return product >= maxNumber ? 1n << 63n : BigInt(product)
}
