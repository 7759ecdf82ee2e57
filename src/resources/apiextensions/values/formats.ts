// The formats of texts that a JSON schema can ask for by name. Names that are not here ask for nothing.

import { parseCidr } from '../../../api/validation/cidr.js'
import { parseIp } from '../../../api/validation/ip.js'
import { parseUrl } from '../../../api/validation/parse-url.js'
import { durationNanoseconds, readBytes, readTime } from '../../../schema/scalars.js'

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

const isUri: FormatRule = (text) => {
  const url = parseUrl(text)
  return url !== undefined && (url.scheme !== '' || text.startsWith('/'))
}

const isDate: FormatRule = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && readTime(`${text}T00:00:00Z`, false) !== undefined

/** Durations as programs print them, or as people write them: `1h30m`, `3 days`. */
const isDuration: FormatRule = (text) =>
  durationNanoseconds(text) !== undefined ||
  /^(\d+(\.\d+)?\s*(ns|nano|nanos|nanosecond|nanoseconds|us|µs|micro|micros|microseconds?|ms|milli|millis|milliseconds?|s|sec|secs|seconds?|m|min|mins|minutes?|h|hr|hours?|d|days?|w|wk|weeks?)\s*)+$/i.test(
    text,
  )

/** The digit at the end of a card number makes the sum come out even. */
function isCardNumber(text: string): boolean {
  const number = digits(text)
  if (!/^\d{12,19}$/.test(number)) return false
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
const oneLabel = new RegExp(`^${plainLetter}-?${plainLetter}{0,62}$`, 'u')
const manyLabels = new RegExp(`^(?:${plainLetter}(?:${letterOrDash}{0,61}${plainLetter})?\\.)+[a-zA-Z\\p{L}]{2,63}$`, 'u')

/** One label with a dash at most behind its first letter, or several, the last of which has two letters at least: as the reference has it. */
function isHostname(text: string): boolean {
  const bytes = (part: string): number => new TextEncoder().encode(part).length
  if (text.length > 255 || bytes(text) > 255) return false
  return (oneLabel.test(text) || manyLabels.test(text)) && text.split('.').every((label) => bytes(label) <= 63)
}

const byteOfColor = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'

/** By the name without dashes, as `date-time` and `datetime` are one. */
const formats: { readonly [name: string]: FormatRule } = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  byte: (text) => text !== '' && readBytes(text) !== undefined,
  cidr: (text) => parseCidr(text) !== undefined,
  creditcard: isCardNumber,
  date: isDate,
  datetime: (text) => readTime(text, false) !== undefined,
  duration: isDuration,
  email: matches(/^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && parseIp(text) !== undefined,
  ipv6: (text) => text.includes(':') && parseIp(text) !== undefined,
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  mac: matches(/^([0-9a-fA-F]{2}([:-])([0-9a-fA-F]{2}\2){4,6}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4})$/),
  password: () => true,
  rgbcolor: matches(new RegExp(`^rgb\\(${byteOfColor},${byteOfColor},${byteOfColor}\\)$`)),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  uri: isUri,
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
