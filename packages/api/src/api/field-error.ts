// FieldError: one violation of validation, with reason, field path and message. A Status lists up to 100 of them.

import { listSome, shorten } from '../base/shorten.js'
import { floatText } from '../base/text/float-text.js'

type FieldErrorReason =
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
  /** For example `spec.ports[0].name`. */
  readonly field: string
  /** For example `Required value: a name is needed`. */
  readonly message: string
}

const withDetail = (head: string, detail: string): string => (detail === '' ? head : `${head}: ${detail}`)

export function showValue(value: unknown): string {
  if (value === undefined || value === null) return '"null"'
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return floatText(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  return showJson(value)
}

const maxJsonLength = 1024

/** JSON for messages. Long JSON is truncated; integers beyond 2^53 are rounded. */
export const showJson = (value: unknown): string => shorten(jsonUpTo(value, maxJsonLength * 2), maxJsonLength)

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

export const quote = (text: string): string =>
  JSON.stringify(shorten(text))
    .replace(/\\u00([01][0-9a-f])/g, (_, digits: string) => charEscapes[digits] ?? `\\x${digits}`)
    .replace(/[^\P{C} ]|[^\P{Z} ]/gu, escaped)

/** Escapes that Go prints and JSON does not have, by the hexadecimal code of the character. */
const charEscapes: { readonly [digits: string]: string } = { '07': '\\a', '0b': '\\v' }

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

/** Maximum errors in one response; the rest is only counted. */
export const maxErrors = 100

export const invalid = (field: string, value: unknown, detail = ''): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: withDetail(`Invalid value: ${showValue(value)}`, detail),
})

/** Prints the time like kube-apiserver: `2020-01-01 00:00:00 +0000 UTC`. */
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
      : `supported values: ${listSome(supported.slice(0, maxSupported).map(quote), supported.length - maxSupported)}`,
  ),
})

/** Maximum listed values of an enum, which may have thousands. Each item of a list may get this error. */
const maxSupported = 200

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

export const internalError = (field: string, problem: string): FieldError => ({
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

/** Like {@link tooLong}, for lengths that are not in bytes. */
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
