// JSON values of the model: numbers as kube-apiserver reads them, an int64 or a float64.

export type Value = null | boolean | number | bigint | string | readonly Value[] | Fields
export interface Fields {
  readonly [name: string]: Value
}

/** Prefix of a string that stands for an integer which a JavaScript number cannot hold. */
const bigIntPrefix = '\u0001'
const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

export const isFields = (value: Value | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

/** An integer literal beyond int64 is a float64; integers that JavaScript holds exactly are plain numbers. */
function normalize(integer: bigint): number | bigint {
  if (integer < minInt64 || integer > maxInt64) return Number(integer)
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}

/** Parses JSON without losing digits of integers. */
export function parseValue(text: string): Value {
  const withPrefixes = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `"\\u0001${token}"`,
  )
  return JSON.parse(withPrefixes, (_, value: Value) =>
    typeof value === 'string' && value.startsWith(bigIntPrefix) ? normalize(BigInt(value.slice(1))) : value,
  )
}

export function printValue(value: Value): string {
  const text = JSON.stringify(value, (_, member: Value) => (typeof member === 'bigint' ? `${bigIntPrefix}${member}` : member))
  return text.replace(/"\\u0001(-?\d+)"/g, '$1')
}

/** Text with sorted members, equal for equal values. */
export function canonical(value: Value): string {
  if (isList(value)) return `[${value.map(canonical).join()}]`
  if (!isFields(value)) return printValue(value)
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`)
  return `{${members.join()}}`
}

export const isEqual = (a: Value | undefined, b: Value | undefined): boolean =>
  a === undefined || b === undefined ? a === b : canonical(a) === canonical(b)

export function mapFields(fields: Fields, change: (value: Value, name: string) => Value | undefined): Fields {
  const changed = Object.entries(fields).flatMap(([name, value]) => {
    const next = change(value, name)
    return next === undefined ? [] : [[name, next] as const]
  })
  return Object.fromEntries(changed)
}
