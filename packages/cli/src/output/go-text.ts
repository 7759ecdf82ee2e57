// Go's default formatting of values (%v), such as `map[a:1 b:[2 3]]`, for columns and templates.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'

/** Number literal with a decimal point or exponent: float64 in Go, even if it is integral. */
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

export const goType = (value: unknown): string => {
  if (value === undefined || value === null) return '<nil>'
  if (value instanceof Float) return 'float64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** Shortest representation of a float64, with an exponent below 1e-4 and from 1e6. */
export function floatText(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value === 0 ? '0' : value < 0 ? '-Inf' : '+Inf'
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  const digits = mantissa.replace(/^-?\d\.?/, '').length
  if (power < -4 || power >= 6) return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  return value.toFixed(Math.max(0, digits - power))
}
