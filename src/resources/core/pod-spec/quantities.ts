// Quantities as the rules of resources need them: read once the schema has found them readable.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { noErrors } from '../../../api/validation/fields.js'
import { isZeroQuantity, parseQuantity, printQuantity, type Quantity, quantityValue, roundUpQuantity } from '../../../schema/quantity.js'

export const isNegative = (text: string | undefined): boolean => text?.startsWith('-') === true && !isZeroQuantity(parseQuantity(text))

export const checkQuantityNotNegative = (text: string, field: string): readonly FieldError[] =>
  isNegative(text) ? [invalid(field, text, 'must be greater than or equal to 0')] : noErrors

export const checkQuantityPositive = (text: string, field: string): readonly FieldError[] =>
  isNegative(text) || isZeroQuantity(parseQuantity(text)) ? [invalid(field, text, 'must be greater than zero')] : noErrors

/** Whether nothing is left over of thousandths. */
export const isWhole = (quantity: Quantity): boolean => roundUpQuantity(quantity, 0) === quantity || isWholeAmount(quantity)

const maxInt64 = 2n ** 63n - 1n

/** Whether it can be counted in units, and in thousandths of them where that is how it is counted. */
export const isCountable = (quantity: Quantity, thousandths: boolean): boolean =>
  quantityValue(quantity) * (thousandths ? 1000n : 1n) <= maxInt64

function isWholeAmount({ unscaled, exponent }: Quantity): boolean {
  return exponent >= 0 || unscaled % 10n ** BigInt(-exponent) === 0n
}

const thousandth = -3
/** Texts of whole numbers and thousandths, which are nearly all there are, need no rounding. */
const isCoarse = /^[+-]?[0-9]+(?:[mkMGTPE]|[KMGTPE]i)?$/

type ResourceList = { readonly [name: string]: string }

/** Resources are counted in thousandths; what is finer is rounded up. The same list where nothing is finer. */
export function roundedResources(list: ResourceList): ResourceList {
  let rounded: Record<string, string> | undefined
  for (const name in list) {
    const text = list[name] as string
    if (isCoarse.test(text)) continue
    const quantity = parseQuantity(text)
    const coarse = roundUpQuantity(quantity, thousandth)
    if (coarse === quantity) continue
    rounded ??= { ...list }
    rounded[name] = printQuantity(coarse)
  }
  return rounded ?? list
}
