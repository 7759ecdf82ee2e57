// What a YAML text without quotes is: YAML 1.1 as the reference reads it, with `yes` and `on`, octal numbers and dates.

export type ScalarType = 'text' | 'integer' | 'float' | 'boolean' | 'null' | 'timestamp'

export interface ResolvedScalar {
  readonly type: ScalarType
  /** A timestamp stays the text that it was. */
  readonly value: string | number | bigint | boolean | null
}

const words: ReadonlyMap<string, ResolvedScalar> = new Map([
  ...spellings({ type: 'boolean', value: true }, 'y', 'yes', 'true', 'on'),
  ...spellings({ type: 'boolean', value: false }, 'n', 'no', 'false', 'off'),
  ...spellings({ type: 'null', value: null }, '', '~', 'null'),
  ...spellings({ type: 'float', value: Number.POSITIVE_INFINITY }, '.inf', '+.inf'),
  ...spellings({ type: 'float', value: Number.NEGATIVE_INFINITY }, '-.inf'),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, { type: 'float', value: Number.NaN }] as const),
])

/** In small letters, with a capital in front, and in capitals. */
function spellings(meaning: ResolvedScalar, ...forms: readonly string[]): readonly (readonly [string, ResolvedScalar])[] {
  return forms.flatMap((form) => {
    const capital = form.replace(/[a-z]/, (letter) => letter.toUpperCase())
    return [form, capital, form.toUpperCase()].map((word) => [word, meaning] as const)
  })
}

const asText = (text: string): ResolvedScalar => ({ type: 'text', value: text })
const mayBeWord = /^[yYnNtTfFoO~.+-]/
const mayBeNumber = /^[-+.0-9]/

export function resolvePlain(text: string): ResolvedScalar {
  if (text === '' || mayBeWord.test(text)) {
    const word = words.get(text)
    if (word !== undefined) return word
  }
  if (!mayBeNumber.test(text)) return asText(text)
  if (text.startsWith('.')) return resolveFloat(text) ?? asText(text)
  if (isTimestamp(text)) return { type: 'timestamp', value: text }
  const digits = text.replaceAll('_', '')
  return resolveInteger(digits) ?? resolveFloat(digits) ?? asText(text)
}

const integerForms: readonly { readonly form: RegExp; readonly prefix: string }[] = [
  { form: /^([-+]?)(0|[1-9][0-9]*)$/, prefix: '' },
  { form: /^([-+]?)0[xX]([0-9A-Fa-f]+)$/, prefix: '0x' },
  { form: /^([-+]?)0[oO]?([0-7]+)$/, prefix: '0o' },
  { form: /^([-+]?)0[bB]([01]+)$/, prefix: '0b' },
]
const maxDigits = 80

/** Integers that 64 bits hold, with a sign or without; of the larger ones the reference makes floats. */
function resolveInteger(text: string): ResolvedScalar | undefined {
  if (/^-?[1-9][0-9]{0,14}$/.test(text)) return { type: 'integer', value: Number(text) }
  if (text.length > maxDigits) return undefined
  for (const { form, prefix } of integerForms) {
    const match = form.exec(text)
    if (match === null) continue
    const size = BigInt(`${prefix}${match[2]}`)
    const value = match[1] === '-' ? -size : size
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

const timestampForm =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]{1,9})?(?:Z|[-+][0-9]{2}:[0-9]{2}))|(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]{1,9})?))?$/

/** A day of the calendar, perhaps with a time. */
function isTimestamp(text: string): boolean {
  const match = timestampForm.exec(text)
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

/** Numbers to the base 60 are not read as such, but other readers would: a text that looks like one wants quotes. */
export const isBase60 = (text: string): boolean => /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text)
