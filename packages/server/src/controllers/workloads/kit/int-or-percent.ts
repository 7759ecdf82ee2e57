// Numbers or percentages, such as maxSurge and maxUnavailable.

/** Resolves a number, or a percentage of `total`. */
export function resolveIntOrPercent(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const exact = (Number(value.replace('%', '')) * total) / 100
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact)
}
