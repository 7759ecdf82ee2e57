// The formats of texts that a JSON schema can ask for by name. Names that are not here ask for nothing.

import { parseCidr } from '../../../api/validation/cidr.js'
import { parseIp } from '../../../api/validation/ip.js'
import { parseDate, parseLooseDuration } from '../../../cel/time-text.js'
import { refuseUrl } from '../../../cel/url.js'
import { isBase64 } from '../../../schema/scalars.js'
import { isMailAddress } from './mail-address.js'

type FormatRule = (text: string) => boolean

const matches =
  (pattern: RegExp): FormatRule =>
  (text) =>
    pattern.test(text)

const hex = '[0-9a-fA-F]'
const uuidOf = (third: string, fourth: string): FormatRule => matches(new RegExp(`^${hex}{8}-?${hex}{4}-?${third}-?${fourth}-?${hex}{12}$`))

const anyGroup = `${hex}{4}`
const variantGroup = `[89abAB]${hex}{3}`
const digits = (text: string): string => text.replace(/[\s-]/g, '')

const isDate: FormatRule = (text) => typeof parseDate(text) === 'bigint'

const clock = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u

/** A date, `T` and a time with a zone. Small letters do, and offsets are not looked at. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t')
  const parts = clock.exec(time ?? '')
  return parts !== null && isDate(date) && (parts[1] as string) <= '23' && (parts[2] as string) <= '59' && (parts[3] as string) <= '59'
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/

/** Of a known issuer, whatever stands between its digits; the digit at the end makes the sum come out even. */
function isCardNumber(text: string): boolean {
  const number = text.replace(/[^0-9]+/g, '')
  if (!cardNumber.test(number)) return false
  const sum = [...number].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

const isIsbn10: FormatRule = (text) => {
  const isbn = digits(text)
  const sum = [...isbn].reduce((total, digit, i) => total + (digit === 'X' ? 10 : Number(digit)) * (10 - i), 0)
  return /^\d{9}[\dX]$/.test(isbn) && sum % 11 === 0
}

const isIsbn13: FormatRule = (text) => {
  const isbn = digits(text)
  const sum = [...isbn].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0)
  return /^\d{13}$/.test(isbn) && sum % 10 === 0
}

const plainLetter = '[a-zA-Z0-9\\p{S}\\p{L}]'
const letterOrDash = '[a-zA-Z0-9\\p{S}\\p{L}-]'
/** Compiled when it is needed: for all scripts that takes milliseconds. */
let hostnames: readonly [oneLabel: RegExp, manyLabels: RegExp] | undefined

/** One label with a dash at most behind its first letter, or several, the last of which has two letters at least: as the reference has it. */
function isHostname(text: string): boolean {
  const bytes = (part: string): number => new TextEncoder().encode(part).length
  if (text.length > 255 || bytes(text) > 255) return false
  hostnames ??= [
    new RegExp(`^${plainLetter}-?${plainLetter}{0,62}$`, 'u'),
    new RegExp(`^(?:${plainLetter}(?:${letterOrDash}{0,61}${plainLetter})?\\.)+[a-zA-Z\\p{L}]{2,63}$`, 'u'),
  ]
  return hostnames.some((pattern) => pattern.test(text)) && text.split('.').every((label) => bytes(label) <= 63)
}

/** Six, eight or twenty bytes, with colons or dashes between them, or dots between every two. */
function isHardwareAddress(text: string): boolean {
  const byPairs = /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2})+$/.test(text)
  const byFours = /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text)
  const length = byPairs ? (text.length + 1) / 3 : byFours ? ((text.length + 1) / 5) * 2 : 0
  return length === 6 || length === 8 || length === 20
}

/** Elsewhere in the API a number of an address may begin with a zero. */
const hasLeadingZero = (text: string): boolean => /(?:^|[.:])0\d+(?=\.)|\.0\d/.test(text)
const isAddress: FormatRule = (text) => parseIp(text) !== undefined && !hasLeadingZero(text)

const byteOfColor = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'

/** By the name without dashes, as `date-time` and `datetime` are one. */
const formats: { readonly [name: string]: FormatRule } = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  byte: (text) => text !== '' && isBase64(text),
  cidr: (text) => parseCidr(text) !== undefined && !hasLeadingZero(text),
  creditcard: isCardNumber,
  date: isDate,
  datetime: isDateTime,
  duration: (text) => parseLooseDuration(text) !== undefined,
  email: isMailAddress,
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && isAddress(text),
  ipv6: (text) => text.includes(':') && isAddress(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  mac: isHardwareAddress,
  password: () => true,
  rgbcolor: matches(new RegExp(`^rgb\\(${byteOfColor},${byteOfColor},${byteOfColor}\\)$`)),
  ssn: matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  uri: (text) => refuseUrl(text) === undefined,
  uuid: uuidOf(anyGroup, anyGroup),
  uuid3: uuidOf(`3${hex}{3}`, anyGroup),
  uuid4: uuidOf(`4${hex}{3}`, variantGroup),
  uuid5: uuidOf(`5${hex}{3}`, variantGroup),
}

const ruleOf = (format: string): FormatRule | undefined => {
  const name = format.replaceAll('-', '')
  return Object.hasOwn(formats, name) ? formats[name] : undefined
}

export const knowsFormat = (format: string | undefined): boolean => format !== undefined && ruleOf(format) !== undefined

export const isOfFormat = (format: string, text: string): boolean => ruleOf(format)?.(text) ?? true
