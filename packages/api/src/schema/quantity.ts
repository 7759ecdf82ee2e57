// Resource quantities such as `1500m` and `2Gi`: decimals, exact to nano, that keep the format of their suffix.

type QuantityFormat = 'decimal' | 'binary' | 'exponent'

export interface Quantity {
  readonly unscaled: bigint
  /** At least -9: the smallest unit is nano. */
  readonly exponent: number
  readonly format: QuantityFormat
  /** Text as parsed, if kube-apiserver keeps it; otherwise printed canonically. */
  readonly text?: string
}

export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

const formatError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const numberError = 'unable to parse numeric part of quantity'
const suffixError = "unable to parse quantity's suffix"

const minExponent = -9
/** Bounds the parsing time. */
const maxTextLength = 256
const maxExponent = 512
/** Maximum of binary quantities: larger ones saturate. */
const maxBinary = 2n ** 63n - 1n

const decimalSuffixes: readonly (readonly [string, number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const decimalExponents: ReadonlyMap<string, number> = new Map(decimalSuffixes)
const suffixesByExponent: ReadonlyMap<number, string> = new Map(decimalSuffixes.map(([suffix, exponent]) => [exponent, suffix]))
const maxDecimalExponent = 18

const zeroQuantity: Quantity = { unscaled: 0n, exponent: 0, format: 'decimal', text: '0' }

const quantitySyntax = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/

export function parseQuantity(text: string): Quantity {
  if (text === '0') return zeroQuantity
  if (text === '') throw new QuantityError(formatError)
  if (text.length > maxTextLength) throw new QuantityError(numberError)
  const match = quantitySyntax.exec(text)
  if (match === null) throw new QuantityError(formatError)
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  const digits = (whole === '' ? '0' : whole) + fraction
  const magnitude = BigInt(digits)
  const scale = scaleOf(suffix)
  const parts: Parts = { text, sign: sign === '-' ? -1n : 1n, digits, magnitude, fractionLength: fraction.length, scale }
  return scale.format === 'binary' ? binaryQuantity(parts) : decimalQuantity(parts)
}

interface Scale {
  readonly format: QuantityFormat
  readonly power: number
}

function scaleOf(suffix: string): Scale {
  const decimal = decimalExponents.get(suffix)
  if (decimal !== undefined) return { format: 'decimal', power: decimal }
  const binary = binarySuffixes.indexOf(suffix)
  if (binary > 0) return { format: 'binary', power: binary }
  const power = /^[eE][+-]?[0-9]+$/.test(suffix) ? Number(suffix.slice(1)) : Number.NaN
  if (Number.isNaN(power)) throw new QuantityError(suffixError)
  if (Math.abs(power) > maxExponent) throw new QuantityError(numberError)
  return { format: 'exponent', power }
}

interface Parts {
  readonly text: string
  readonly sign: bigint
  readonly digits: string
  readonly magnitude: bigint
  readonly fractionLength: number
  readonly scale: Scale
}

/** Maximum digits with which kube-apiserver keeps the text as parsed. */
const maxKeptDigits = 18

function decimalQuantity({ text, sign, digits, magnitude, fractionLength, scale }: Parts): Quantity {
  const exponent = scale.power - fractionLength
  const amount = roundUpTo({ unscaled: magnitude, exponent }, minExponent)
  const quantity = { unscaled: sign * amount.unscaled, exponent: amount.exponent, format: scale.format }
  const keepsText =
    digits.length <= maxKeptDigits && exponent >= minExponent && exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
  return keepsText ? { ...quantity, text } : quantity
}

function binaryQuantity({ text, sign, digits, magnitude, fractionLength, scale }: Parts): Quantity {
  const factor = 1024n ** BigInt(scale.power)
  const isShort = fractionLength === 0 && 15 - digits.length - scale.power * 3 - 1 >= 0
  if (isShort) {
    const quantity: Quantity = { unscaled: sign * magnitude * factor, exponent: 0, format: 'binary' }
    return (magnitude & 7n) === 0n ? quantity : { ...quantity, text }
  }
  const amount = roundUpTo({ unscaled: magnitude * factor, exponent: -fractionLength }, minExponent)
  if (compareAmounts(amount, { unscaled: maxBinary, exponent: 0 }) > 0) return { unscaled: sign * maxBinary, exponent: 0, format: 'binary' }
  const isBelowOne = amount.unscaled > 0n && compareAmounts(amount, { unscaled: 1n, exponent: 0 }) < 0
  return { unscaled: sign * amount.unscaled, exponent: amount.exponent, format: isBelowOne ? 'decimal' : 'binary' }
}

type Amount = Pick<Quantity, 'unscaled' | 'exponent'>

const powerOfTen = (power: number): bigint => 10n ** BigInt(power)

/** Rounds away from zero. */
function roundUpTo(amount: Amount, exponent: number): Amount {
  if (amount.exponent >= exponent) return amount
  const divisor = powerOfTen(exponent - amount.exponent)
  const quotient = amount.unscaled / divisor
  const remainder = amount.unscaled % divisor
  const increment = remainder === 0n ? 0n : remainder > 0n ? 1n : -1n
  return { unscaled: quotient + increment, exponent }
}

function compareAmounts(a: Amount, b: Amount): number {
  const exponent = Math.min(a.exponent, b.exponent)
  const difference = unscaledAt(a, exponent) - unscaledAt(b, exponent)
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}

const unscaledAt = (amount: Amount, exponent: number): bigint => amount.unscaled * powerOfTen(amount.exponent - exponent)

/** Prints the kept text; otherwise without a fraction and with the largest lossless suffix: `1.5` is `1500m`, `1024Mi` is `1Gi`. */
export function printQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  if (quantity.unscaled === 0n) return '0'
  return quantity.format === 'binary' ? (printBinary(quantity) ?? printDecimal(quantity)) : printDecimal(quantity)
}

function printBinary(quantity: Quantity): string | undefined {
  const integer = roundUpTo(quantity, 0)
  if (compareAmounts(integer, quantity) !== 0) return undefined
  let value = unscaledAt(integer, 0)
  if (value > -1024n && value < 1024n) return undefined
  let power = 0
  for (; power < binarySuffixes.length - 1 && value % 1024n === 0n; power++) value /= 1024n
  return `${value}${binarySuffixes[power]}`
}

function printDecimal({ unscaled, exponent: currentExponent, format }: Quantity): string {
  const digits = unscaled.toString()
  const zeros = digits.length - digits.replace(/0+$/, '').length
  let exponent = currentExponent + zeros
  exponent -= ((exponent % 3) + 3) % 3
  if (format !== 'exponent') exponent = Math.min(exponent, maxDecimalExponent)
  const shift = currentExponent - exponent
  const number = shift >= 0 ? digits + '0'.repeat(shift) : digits.slice(0, shift)
  if (format !== 'exponent') return number + (suffixesByExponent.get(exponent) ?? '')
  return exponent === 0 ? number : `${number}e${exponent}`
}

export const compareQuantities = (a: Quantity, b: Quantity): number => compareAmounts(a, b)

export const isZeroQuantity = (quantity: Quantity): boolean => quantity.unscaled === 0n

const negateQuantity = ({ unscaled, exponent, format }: Quantity): Quantity => ({ unscaled: -unscaled, exponent, format })

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const exponent = Math.min(a.exponent, b.exponent)
  return { unscaled: unscaledAt(a, exponent) + unscaledAt(b, exponent), exponent, format: isZeroQuantity(a) ? b.format : a.format }
}

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => addQuantities(a, negateQuantity(b))

/** Rounds away from zero to 10^`exponent`. Keeps the parsed text if nothing is rounded. */
export function roundUpQuantity(quantity: Quantity, exponent: number): Quantity {
  return quantity.exponent >= exponent ? quantity : { ...roundUpTo(quantity, exponent), format: quantity.format }
}

export const quantityValue = (quantity: Quantity): bigint => unscaledAt(roundUpTo(quantity, 0), 0)

export const quantityMilliValue = (quantity: Quantity): bigint => unscaledAt(roundUpTo(quantity, -3), -3)
