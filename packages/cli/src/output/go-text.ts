// Values as programs in Go print them by default: `map[a:1 b:[2 3]]`, which is what columns and templates of the original show.

import { compareText } from '../../base/text-order.js'

/** A number that was written with a point or an exponent: of another type than whole ones, even where it is whole. */
export class Float {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (value instanceof Float) return floatText(value.value)
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value)
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).sort(([a], [b]) => compareText(a, b))
  return `map[${members.map(([name, member]) => `${name}:${goText(member)}`).join(' ')}]`
}

/** How Go calls the type of a value. */
export const goType = (value: unknown): string => {
  if (value === undefined || value === null) return '<nil>'
  if (value instanceof Float) return 'float64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** The shortest that is read as the same number; with an exponent where six places do not hold it. */
export function floatText(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value === 0 ? '0' : value < 0 ? '-Inf' : '+Inf'
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  const digits = mantissa.replace(/^-?\d\.?/, '').length
  if (power < -4 || power >= 6) return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  return value.toFixed(Math.max(0, digits - power))
}
