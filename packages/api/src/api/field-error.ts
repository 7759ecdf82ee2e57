// What is wrong with one field of an object. Validation collects all of them; one Status reports them together.

import { floatText } from '../base/float-text.js'
import { listSome, shorten } from '../base/shorten.js'

export type FieldErrorReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

export interface FieldError {
  readonly reason: FieldErrorReason
  /** Such as `spec.ports[0].name`. */
  readonly field: string
  /** Such as `Required value: a name is needed`. */
  readonly message: string
}

const withDetail = (head: string, detail: string): string => (detail === '' ? head : `${head}: ${detail}`)

/** How a value is shown in a message: texts in quotes, numbers and booleans bare, the rest as JSON. */
export function showValue(value: unknown): string {
  if (value === undefined || value === null) return '"null"'
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' && !Number.isInteger(value)) return floatText(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  return showJson(value)
}

/** An object that is shown tells more than a text of the same length. */
const mostJson = 1024

/** JSON for people to read: of much of it the beginning, and integers that only a bigint can hold are rounded. */
export const showJson = (value: unknown): string => shorten(jsonUpTo(value, mostJson * 2), mostJson)

/** The JSON of a value, written no further than a length is passed: who asks wants to see its beginning. */
function jsonUpTo(value: unknown, length: number): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? String(Number(value)) : (JSON.stringify(value) ?? 'null')
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  let isFirst = true
  for (const name in value) {
    if (text.length > length) return text
    const member = (value as { readonly [name: string]: unknown })[name]
    if (member === undefined && !isList) continue
    text += `${isFirst ? '' : ','}${isList ? '' : `${JSON.stringify(shorten(name))}:`}${jsonUpTo(member, length - text.length)}`
    isFirst = false
  }
  return text + (isList ? ']' : '}')
}

/** A text in double quotes, with control characters and quotes escaped. Of a long text it is the beginning. */
export const quote = (text: string): string =>
  JSON.stringify(shorten(text))
    .replace(/\\u00([01][0-9a-f])/g, (_, digits: string) => letterEscapes[digits] ?? `\\x${digits}`)
    .replace(/[^\P{C} ]|[^\P{Z} ]/gu, escaped)

/** Two of the control characters have letters that JSON does not know. */
const letterEscapes: { readonly [digits: string]: string } = { '07': '\\a', '0b': '\\v' }

/** What cannot be seen, by its number. */
function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  if (code.length <= 2 && Number.parseInt(code, 16) < 0x80) return `\\x${code.padStart(2, '0')}`
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}

export const required = (field: string, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: withDetail('Required value', detail),
})

/** So many errors are told in one answer, and of the others how many they are. */
export const mostErrors = 100

export const invalid = (field: string, value: unknown, detail = ''): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: withDetail(`Invalid value: ${showValue(value)}`, detail),
})

/** A time that may not change, shown as the reference shows times: `2020-01-01 00:00:00 +0000 UTC`. */
export const immutableTime = (field: string, time: string | undefined): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${time === undefined ? '"null"' : showTime(time)}: field is immutable`,
})

const showTime = (time: string): string => `${time.replace('T', ' ').replace(/(?:(\.\d*[1-9])0*|\.0+)?Z$/, '$1')} +0000 UTC`

export const typeInvalid = (field: string, value: unknown, detail = ''): FieldError => ({
  reason: 'FieldValueTypeInvalid',
  field,
  message: withDetail(`Invalid value: ${showValue(value)}`, detail),
})

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: withDetail(
    `Unsupported value: ${showValue(value)}`,
    supported.length === 0
      ? ''
      : `supported values: ${listSome(supported.slice(0, mostSupported).map(quote), supported.length - mostSupported)}`,
  ),
})

/** A schema may know many thousands, and every item of a list may be none of them. */
const mostSupported = 200

export const forbidden = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: withDetail('Forbidden', detail),
})

export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${showValue(value)}`,
})

/** What could not be found out about a value. */
export const unknowable = (field: string, problem: string): FieldError => ({
  reason: 'InternalError',
  field,
  message: `Internal error: ${problem}`,
})

export const notFound = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${showValue(value)}`,
})

export const tooLong = (field: string, maxLength: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: must have at most ${maxLength} bytes`,
})

/** As {@link tooLong}, for lists and for texts of which the length is not counted in bytes. */
export const tooLongFor = (field: string, maxLength: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be longer than ${maxLength}`,
})

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} items`,
})
