// Formats values, times and sizes as people read them.

const steps: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
]

/** `5s`, `12m`, `3h`, `9d`. */
export function ageText(sinceMs: number, nowMs: number): string {
  if (!Number.isFinite(sinceMs)) return ''
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1000))
  for (const [unit, size] of steps) if (seconds >= size * 2) return `${Math.floor(seconds / size)}${unit}`
  return `${seconds}s`
}

export function bytesText(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 1 << 30],
    ['MiB', 1 << 20],
    ['KiB', 1 << 10],
  ] as const)
    if (bytes >= size) return `${(bytes / size).toFixed(1)} ${unit}`
  return `${bytes} B`
}

/** Never calls `toString` of the value: the writer of an object may have set a member of this name. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

export const countText = (count: number): string => count.toLocaleString('en')

export const timeText = (ms: number): string => new Date(ms).toLocaleTimeString('en-GB')
