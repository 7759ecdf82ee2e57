// Types of plain YAML scalars by YAML 1.1, as in kube-apiserver: `yes` and `on`, octal numbers, timestamps.

type ScalarType = 'text' | 'integer' | 'float' | 'boolean' | 'null' | 'timestamp'

export interface ResolvedScalar {
  readonly type: ScalarType
  /** The value of a timestamp is its text. */
  readonly value: string | number | bigint | boolean | null
}

const keywords: ReadonlyMap<string, ResolvedScalar> = new Map([
  ...spellings({ type: 'boolean', value: true }, 'y', 'yes', 'true', 'on'),
  ...spellings({ type: 'boolean', value: false }, 'n', 'no', 'false', 'off'),
  ...spellings({ type: 'null', value: null }, '', '~', 'null'),
  ...spellings({ type: 'float', value: Number.POSITIVE_INFINITY }, '.inf', '+.inf'),
  ...spellings({ type: 'float', value: Number.NEGATIVE_INFINITY }, '-.inf'),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { type: 'float', value: Number.NaN }] as const),
])

function spellings(scalar: ResolvedScalar, ...lowerCase: readonly string[]): readonly (readonly [string, ResolvedScalar])[] {
  return lowerCase.flatMap((word) => {
    const capitalized = word.replace(/[a-z]/, (char) => char.toUpperCase())
    return [word, capitalized, word.toUpperCase()].map((spelling) => [spelling, scalar] as const)
  })
}

const asText = (text: string): ResolvedScalar => ({ type: 'text', value: text })
const mayBeKeyword = /^[yYnNtTfFoO~.+-]/
const mayBeNumber = /^[-+.0-9]/

export function resolvePlain(text: string): ResolvedScalar {
  if (text === '' || mayBeKeyword.test(text)) {
    const keyword = keywords.get(text)
    if (keyword !== undefined) return keyword
  }
  if (!mayBeNumber.test(text)) return asText(text)
  if (text.startsWith('.')) return resolveFloat(text) ?? asText(text)
  if (isTimestamp(text)) return { type: 'timestamp', value: text }
  const digits = text.replaceAll('_', '')
  return resolveInteger(digits) ?? resolveFloat(digits) ?? asText(text)
}

const integerFormats: readonly { readonly pattern: RegExp; readonly prefix: string }[] = [
  { pattern: /^([-+]?)(0|[1-9][0-9]*)$/, prefix: '' },
  { pattern: /^([-+]?)0[xX]([0-9A-Fa-f]+)$/, prefix: '0x' },
  { pattern: /^([-+]?)0[oO]?([0-7]+)$/, prefix: '0o' },
  { pattern: /^([-+]?)0[bB]([01]+)$/, prefix: '0b' },
]
const maxDigits = 80

/** Parses signed or unsigned 64-bit integers. Returns undefined for larger ones; decimal ones become floats, as in kube-apiserver. */
function resolveInteger(text: string): ResolvedScalar | undefined {
  if (/^-?[1-9][0-9]{0,14}$/.test(text)) return { type: 'integer', value: Number(text) }
  if (text.length > maxDigits) return undefined
  for (const { pattern, prefix } of integerFormats) {
    const match = pattern.exec(text)
    if (match === null) continue
    const magnitude = BigInt(`${prefix}${match[2]}`)
    const value = match[1] === '-' ? -magnitude : magnitude
    if (value < -(2n ** 63n) || value >= (match[1] === '' ? 2n ** 64n : 2n ** 63n)) return undefined
    return { type: 'integer', value: Number.isSafeInteger(Number(value)) ? Number(value) : value }
  }
  return undefined
}

function resolveFloat(text: string): ResolvedScalar | undefined {
  if (!/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? { type: 'float', value } : undefined
}

const timestampPattern =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]{1,9})?(?:Z|[-+][0-9]{2}:[0-9]{2}))|(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]{1,9})?))?$/

function isTimestamp(text: string): boolean {
  const match = timestampPattern.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number)
  const [hour = 0, minute = 0, second = 0] = [match[4] ?? match[7], match[5] ?? match[8], match[6] ?? match[9]].map((part) =>
    Number(part ?? 0),
  )
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day <= days
}

/** Quoted when written, because other YAML 1.1 readers parse base-60 numbers. */
export const isBase60 = (text: string): boolean => /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text)
