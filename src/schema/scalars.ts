// The scalar forms that JSON has no types for: times, bytes and durations as text, each with one canonical spelling.

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/
const sixDecimals = 7

/** RFC 3339 in, UTC out: whole seconds; or six decimals, no more and no less. Undefined when it is not a time. */
export function readTime(text: string, micro: boolean): string | undefined {
  if (!micro && text.length === 20 && text.endsWith('Z') && rfc3339.test(text) && isOnCalendar(text)) return text
  const match = rfc3339.exec(text)
  if (match === null || !isOnCalendar(text) || (micro && match[7]?.length !== sixDecimals)) return undefined
  const wholeMs = Date.parse(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}${match[8] ?? 'Z'}`)
  if (Number.isNaN(wholeMs)) return undefined
  const seconds = new Date(wholeMs).toISOString().slice(0, 19)
  if (!micro) return `${seconds}Z`
  return `${seconds}.${match[7]?.slice(1)}Z`
}

/** `Date.parse` lets 31 February and 24 o'clock through in some forms; calendar and clock do not. */
function isOnCalendar(text: string): boolean {
  if (text.slice(11, 13) > '23' || text.slice(14, 16) > '59' || text.slice(17, 19) > '59') return false
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  if (month < 1 || month > 12 || day < 1) return false
  return day <= 28 || day <= new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
}

let lastSecond = Number.NaN
let lastText = ''

/** Milliseconds since 1970 as RFC 3339 with whole seconds. The text of a second is made once: writes ask for it often. */
export function timeOf(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  }
  return lastText
}

/** Whether a text is padded base64 without line breaks. A pattern for groups of four keeps a way back for each, which is too much for 10 MB. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const end = text.search(/[^A-Za-z0-9+/]/)
  const padding = end === -1 ? 0 : text.length - end
  return padding === 0 || (padding === 1 && text.endsWith('=')) || (padding === 2 && text.endsWith('=='))
}

/** Where a text stops being base64: at a letter that does not belong there, or at the group of four that is cut short. */
export function base64Fault(text: string): number {
  const stray = text.search(/[^A-Za-z0-9+/=\r\n]/)
  const padding = /=(?!=?[\r\n]*$)/.exec(text)?.index ?? -1
  if (stray >= 0 || padding >= 0) return stray >= 0 && padding >= 0 ? Math.min(stray, padding) : Math.max(stray, padding)
  return text.length - (text.replace(/[\r\n]/g, '').length % 4)
}

/** Padded base64 without line breaks; undefined when it is not base64. */
export function readBytes(text: string): string | undefined {
  const plain = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text
  return isBase64(plain) ? plain : undefined
}

const unitNanoseconds: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const durationPart = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y

/** Nanoseconds of a text such as `1h30m` or `-1.5s`; undefined when it is not a duration. */
export function durationNanoseconds(text: string): bigint | undefined {
  const negative = text.startsWith('-')
  const body = negative || text.startsWith('+') ? text.slice(1) : text
  if (body === '0') return 0n
  if (body === '') return undefined
  let total = 0n
  durationPart.lastIndex = 0
  while (durationPart.lastIndex < body.length) {
    const match = durationPart.exec(body)
    if (match === null) return undefined
    const unit = unitNanoseconds[match[2] ?? ''] ?? 0n
    const amount = (match[1] ?? '0').split('.')
    const fraction = (amount[1] ?? '').slice(0, 18)
    total += BigInt(amount[0] || '0') * unit + (fraction === '' ? 0n : (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length))
  }
  return negative ? -total : total
}

/** A duration in its canonical spelling (`90m` becomes `1h30m0s`). */
export function readDuration(text: string): string | undefined {
  const total = durationNanoseconds(text)
  return total === undefined ? undefined : printDuration(total)
}

export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s'
  const sign = nanoseconds < 0n ? '-' : ''
  const rest = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (rest < 1_000_000_000n) {
    const unit = rest < 1000n ? 'ns' : rest < 1_000_000n ? 'µs' : 'ms'
    return `${sign}${decimal(rest, unitNanoseconds[unit] ?? 1n)}${unit}`
  }
  const hours = rest / 3_600_000_000_000n
  const minutes = (rest / 60_000_000_000n) % 60n
  const seconds = `${decimal(rest % 60_000_000_000n, 1_000_000_000n)}s`
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
