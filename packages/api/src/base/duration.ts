// Durations in Go's format (`1h30m`, `-1.5s`, `300ms`), as nanoseconds.

const nanosecondsPerUnit: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

const maxNanoseconds = (1n << 63n) - 1n
export const maxDurationLength = 1000

interface DurationProblem {
  readonly problem: 'invalid' | 'missing unit' | 'unknown unit'
  readonly unit?: string
}

const invalid: DurationProblem = { problem: 'invalid' }

export function readDuration(text: string): bigint | DurationProblem {
  const isNegative = text.startsWith('-')
  const unsigned = isNegative || text.startsWith('+') ? text.slice(1) : text
  if (unsigned === '0') return 0n
  if (unsigned === '' || unsigned.length > maxDurationLength) return invalid
  const part = /0*(\d*)(?:\.(\d*))?([^\d.]*)/y
  let total = 0n
  while (part.lastIndex < unsigned.length) {
    const start = part.lastIndex
    const [, whole = '', fraction = '', unit = ''] = part.exec(unsigned) ?? []
    if (whole === '' && fraction === '' && unsigned[start] !== '0') return invalid
    if (unit === '') return { problem: 'missing unit' }
    const nanoseconds = Object.hasOwn(nanosecondsPerUnit, unit) ? nanosecondsPerUnit[unit] : undefined
    if (nanoseconds === undefined) return { problem: 'unknown unit', unit }
    const decimals = fraction.slice(0, 18)
    total += BigInt(whole) * nanoseconds + (BigInt(decimals) * nanoseconds) / 10n ** BigInt(decimals.length)
    if (total > maxNanoseconds + (isNegative ? 1n : 0n)) return invalid
  }
  return isNegative ? -total : total
}

/** Returns nanoseconds, or undefined if the text is no duration. */
export function parseDuration(text: string): bigint | undefined {
  const duration = readDuration(text)
  return typeof duration === 'bigint' ? duration : undefined
}

/** Returns milliseconds, or undefined if the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  const nanoseconds = parseDuration(text)
  return nanoseconds === undefined ? undefined : durationMs(nanoseconds)
}

export const durationMs = (nanoseconds: bigint): number => Number(nanoseconds) / 1e6

/** Prints the canonical text: `90m` becomes `1h30m0s`. */
export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  const sign = nanoseconds < 0n ? '-' : ''
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (magnitude < 1_000_000_000n) {
    const unit = magnitude < 1000n ? 'ns' : magnitude < 1_000_000n ? 'µs' : 'ms'
    return `${sign}${decimal(magnitude, nanosecondsPerUnit[unit] ?? 1n)}${unit}`
  }
  const hours = magnitude / 3_600_000_000_000n
  const minutes = (magnitude / 60_000_000_000n) % 60n
  const seconds = `${decimal(magnitude % 60_000_000_000n, 1_000_000_000n)}s`
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`
}

function decimal(amount: bigint, unit: bigint): string {
  const fraction = (amount % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '')
  return unit === 1n || fraction === '' ? `${amount / unit}` : `${amount / unit}.${fraction}`
}
