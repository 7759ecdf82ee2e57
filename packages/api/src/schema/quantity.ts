// Resource quantities such as `1500m` and `2Gi`: exact decimal numbers that remember the family of their suffix, so that they are
// written the way they were thought of, and always the same way.

export type QuantityFormat = 'decimal' | 'binary' | 'exponent'

/** The number `unscaled` × 10^`exponent`. Exact: no floating point anywhere. */
export interface Quantity {
  readonly unscaled: bigint
  /** At least -9: nothing is finer than a billionth. */
  readonly exponent: number
  readonly format: QuantityFormat
  /** The spelling that was read, where it stays; else the canonical one is made when it is asked for. */
  readonly text?: string
}

/** A text is no quantity; the message says which part of it is not. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const numberWrong = 'unable to parse numeric part of quantity'
const suffixWrong = "unable to parse quantity's suffix"

const finest = -9
/** Longer texts and larger exponents are no amounts of anything, only work. */
const maxTextLength = 256
const maxExponent = 512
/** Binary quantities end at the largest 64-bit integer. */
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
const decimalLetters: ReadonlyMap<number, string> = new Map(decimalSuffixes.map(([letter, exponent]) => [exponent, letter]))
const largestDecimal = 18

export const zeroQuantity: Quantity = { unscaled: 0n, exponent: 0, format: 'decimal', text: '0' }

const shape = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/

/** Throws {@link QuantityError}. */
export function parseQuantity(text: string): Quantity {
  if (text === '0') return zeroQuantity
  if (text === '') throw new QuantityError(formatWrong)
  if (text.length > maxTextLength) throw new QuantityError(numberWrong)
  const match = shape.exec(text)
  if (match === null) throw new QuantityError(formatWrong)
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  const digits = (whole === '' ? '0' : whole) + fraction
  const magnitude = BigInt(digits)
  const scale = scaleOf(suffix)
  const parts: Parts = { text, sign: sign === '-' ? -1n : 1n, digits, magnitude, fractionLength: fraction.length, scale }
  return scale.format === 'binary' ? binaryQuantity(parts) : decimalQuantity(parts)
}

interface Scale {
  readonly format: QuantityFormat
  /** A power of ten, or for the binary family of 1024. */
  readonly power: number
}

function scaleOf(suffix: string): Scale {
  const decimal = decimalExponents.get(suffix)
  if (decimal !== undefined) return { format: 'decimal', power: decimal }
  const binary = binarySuffixes.indexOf(suffix)
  if (binary > 0) return { format: 'binary', power: binary }
  const power = /^[eE][+-]?[0-9]+$/.test(suffix) ? Number(suffix.slice(1)) : Number.NaN
  if (Number.isNaN(power)) throw new QuantityError(suffixWrong)
  if (Math.abs(power) > maxExponent) throw new QuantityError(numberWrong)
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

/** More digits than these, and the reference computes with large numbers and forgets the spelling. */
const shortDigits = 18

function decimalQuantity({ text, sign, digits, magnitude, fractionLength, scale }: Parts): Quantity {
  const exponent = scale.power - fractionLength
  const amount = roundUpTo({ unscaled: magnitude, exponent }, finest)
  const quantity = { unscaled: sign * amount.unscaled, exponent: amount.exponent, format: scale.format }
  const isSpeltWell =
    digits.length <= shortDigits && exponent >= finest && exponent % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
  return isSpeltWell ? { ...quantity, text } : quantity
}

function binaryQuantity({ text, sign, digits, magnitude, fractionLength, scale }: Parts): Quantity {
  const factor = 1024n ** BigInt(scale.power)
  const isShort = fractionLength === 0 && 15 - digits.length - scale.power * 3 - 1 >= 0
  if (isShort) {
    const quantity: Quantity = { unscaled: sign * magnitude * factor, exponent: 0, format: 'binary' }
    return (magnitude & 7n) === 0n ? quantity : { ...quantity, text }
  }
  const amount = roundUpTo({ unscaled: magnitude * factor, exponent: -fractionLength }, finest)
  if (compareAmounts(amount, { unscaled: maxBinary, exponent: 0 }) > 0) return { unscaled: sign * maxBinary, exponent: 0, format: 'binary' }
  const isBelowOne = amount.unscaled > 0n && compareAmounts(amount, { unscaled: 1n, exponent: 0 }) < 0
  return { unscaled: sign * amount.unscaled, exponent: amount.exponent, format: isBelowOne ? 'decimal' : 'binary' }
}

type Amount = Pick<Quantity, 'unscaled' | 'exponent'>

const powerOfTen = (power: number): bigint => 10n ** BigInt(power)

/** Away from zero, to a whole number of 10^`exponent`; an amount that is coarser already stays. */
function roundUpTo(amount: Amount, exponent: number): Amount {
  if (amount.exponent >= exponent) return amount
  const divisor = powerOfTen(exponent - amount.exponent)
  const whole = amount.unscaled / divisor
  const rest = amount.unscaled % divisor
  const away = rest === 0n ? 0n : rest > 0n ? 1n : -1n
  return { unscaled: whole + away, exponent }
}

function compareAmounts(a: Amount, b: Amount): number {
  const exponent = Math.min(a.exponent, b.exponent)
  const difference = unscaledAt(a, exponent) - unscaledAt(b, exponent)
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}

const unscaledAt = (amount: Amount, exponent: number): bigint => amount.unscaled * powerOfTen(amount.exponent - exponent)

/** The one spelling of a quantity; see {@link canonicalQuantity}. */
export function printQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  if (quantity.unscaled === 0n) return '0'
  return quantity.format === 'binary' ? (printBinary(quantity) ?? printDecimal(quantity)) : printDecimal(quantity)
}

/** Undefined where the binary family would have to round, or says nothing. */
function printBinary(quantity: Quantity): string | undefined {
  const whole = roundUpTo(quantity, 0)
  if (compareAmounts(whole, quantity) !== 0) return undefined
  let value = unscaledAt(whole, 0)
  if (value > -1024n && value < 1024n) return undefined
  let power = 0
  for (; power < binarySuffixes.length - 1 && value % 1024n === 0n; power++) value /= 1024n
  return `${value}${binarySuffixes[power]}`
}

function printDecimal({ unscaled, exponent: given, format }: Quantity): string {
  const digits = unscaled.toString()
  const zeros = digits.length - digits.replace(/0+$/, '').length
  let exponent = given + zeros
  exponent -= ((exponent % 3) + 3) % 3
  if (format !== 'exponent') exponent = Math.min(exponent, largestDecimal)
  const shift = given - exponent
  const number = shift >= 0 ? digits + '0'.repeat(shift) : digits.slice(0, shift)
  if (format !== 'exponent') return number + (decimalLetters.get(exponent) ?? '')
  return exponent === 0 ? number : `${number}e${exponent}`
}

const plainDecimal = /^[1-9][0-9]{0,14}[numkMGTPE]?$/

/**
 * The spelling in which a quantity is kept: no fraction, the largest suffix of its family that loses nothing (`1.5` is `1500m`,
 * `1024Mi` is `1Gi`). Undefined when the text is no quantity.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (text === '0' || (plainDecimal.test(text) && !/000[numkMGTPE]?$/.test(text))) return text
  try {
    return printQuantity(parseQuantity(text))
  } catch (thrown) {
    if (thrown instanceof QuantityError) return undefined
    throw thrown
  }
}

/** Negative, zero or positive, as the first is less than, equal to or greater than the second. */
export const compareQuantities = (a: Quantity, b: Quantity): number => compareAmounts(a, b)

export const isZeroQuantity = (quantity: Quantity): boolean => quantity.unscaled === 0n

export const negateQuantity = ({ unscaled, exponent, format }: Quantity): Quantity => ({ unscaled: -unscaled, exponent, format })

/** The sum, in the family of the first unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const exponent = Math.min(a.exponent, b.exponent)
  return { unscaled: unscaledAt(a, exponent) + unscaledAt(b, exponent), exponent, format: isZeroQuantity(a) ? b.format : a.format }
}

export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => addQuantities(a, negateQuantity(b))

/** Away from zero, to a whole number of 10^`exponent`: `-3` are thousandths. What needs no rounding keeps its spelling. */
export function roundUpQuantity(quantity: Quantity, exponent: number): Quantity {
  return quantity.exponent >= exponent ? quantity : { ...roundUpTo(quantity, exponent), format: quantity.format }
}

/** The number as an integer, rounded away from zero. */
export const quantityValue = (quantity: Quantity): bigint => unscaledAt(roundUpTo(quantity, 0), 0)

/** The number of thousandths, rounded away from zero. */
export const quantityMilliValue = (quantity: Quantity): bigint => unscaledAt(roundUpTo(quantity, -3), -3)
