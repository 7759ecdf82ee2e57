// Formats as `printf` of Go templates takes them: `%-10s %5d %q %v`.

import { Float, floatText, goText, goType } from '../go-text.js'

const verb = /%([-+# 0]*)(\d+)?(?:\.(\d*))?(.)/gsu

export function formatText(format: string, values: readonly unknown[]): string {
  let used = 0
  const text = format.replaceAll(verb, (_, flags: string, width: string | undefined, precision: string | undefined, letter: string) => {
    if (letter === '%') return '%'
    if (used >= values.length) return `%!${letter}(MISSING)`
    const value = values[used++]
    const shown = show(letter, value, { flags, precision: precision === undefined ? undefined : Number(precision) })
    return padded(shown ?? `%!${letter}(${typed(value)})`, flags, Number(width ?? 0), typeof plain(value) === 'number')
  })
  if (used >= values.length) return text
  return `${text}%!(EXTRA ${values.slice(used).map(typed).join(', ')})`
}

const plain = (value: unknown): unknown => (value instanceof Float ? value.value : value)

const typed = (value: unknown): string => (value === null || value === undefined ? '<nil>' : `${goType(value)}=${goText(value)}`)

interface Manner {
  readonly flags: string
  readonly precision: number | undefined
}

/** Undefined where the verb is for other values. */
function show(letter: string, given: unknown, { flags, precision }: Manner): string | undefined {
  const value = plain(given)
  const signed = (text: string): string =>
    flags.includes('+') && !text.startsWith('-') ? `+${text}` : flags.includes(' ') && !text.startsWith('-') ? ` ${text}` : text
  if (letter === 'v') return flags.includes('#') && typeof value === 'string' ? JSON.stringify(value) : goText(given)
  if (letter === 'T') return goType(given)
  if (letter === 't') return typeof value === 'boolean' ? String(value) : undefined
  if (typeof value === 'string') return showText(letter, value, precision)
  if (typeof value !== 'number') return letter === 's' && typeof value === 'object' && value !== null ? goText(value) : undefined
  if (goType(given) === 'float64')
    switch (letter) {
      case 'f':
      case 'F':
        return signed(value.toFixed(precision ?? 6))
      case 'e':
        return signed(exponent(value.toExponential(precision ?? 6)))
      case 'g':
        return signed(precision === undefined ? floatText(value) : String(Number(value.toPrecision(precision || 1))))
      default:
        return undefined
    }
  const radix = { d: 10, x: 16, X: 16, o: 8, b: 2 }[letter]
  if (radix !== undefined) return signed(letter === 'X' ? value.toString(16).toUpperCase() : value.toString(radix))
  if (letter === 'c') return String.fromCodePoint(value)
  return letter === 'q' ? `'${String.fromCodePoint(value)}'` : undefined
}

const exponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

function showText(letter: string, value: string, precision: number | undefined): string | undefined {
  const short = precision === undefined ? value : [...value].slice(0, precision).join('')
  if (letter === 's') return short
  if (letter === 'q') return JSON.stringify(short)
  const hex = (): string => Buffer.from(short, 'utf8').toString('hex')
  return letter === 'x' ? hex() : letter === 'X' ? hex().toUpperCase() : undefined
}

/** More than anybody shows in a column. */
const mostWidth = 1000

function padded(text: string, flags: string, width: number, isNumber: boolean): string {
  const missing = Math.min(width, mostWidth) - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!flags.includes('0') || !isNumber) return ' '.repeat(missing) + text
  const sign = /^[+-]/.test(text) ? (text[0] as string) : ''
  return sign + '0'.repeat(missing) + text.slice(sign.length)
}
