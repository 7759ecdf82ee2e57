// String formats of JSON schemas by name. Unknown formats are not validated.

import { parseCidr } from '../../../api/validation/network/cidr.js'
import { parseIp } from '../../../api/validation/network/ip.js'
import { isBase64 } from '../../../base/text/base64.js'
import { parseDate, parseLooseDuration } from '../../../cel/values/time-formats.js'
import { requestUrlProblem } from '../../../cel/values/url.js'

class MailScanner {
  private readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  get next(): string | undefined {
    return this.text[this.at]
  }

  take(char: string): boolean {
    if (this.next !== char) return false
    this.at++
    return true
  }

  skipSpace(): void {
    while (this.next === ' ' || this.next === '\t') this.at++
  }

  atom(mayHaveDots: boolean): string | undefined {
    const start = this.at
    while (this.next !== undefined && isAtomChar(this.next, mayHaveDots)) this.at++
    return this.at > start ? this.text.slice(start, this.at) : undefined
  }

  dotAtom(): boolean {
    const atom = this.atom(true)
    return atom !== undefined && !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
  }

  quoted(): number | undefined {
    if (!this.take('"')) return undefined
    let length = 0
    for (;;) {
      if (this.take('"')) return length
      if (this.take('\\') && this.next !== undefined && !isPrintable(this.next)) return undefined
      if (this.next === undefined || !isPrintable(this.next)) return undefined
      this.at++
      length++
    }
  }

  comment(): boolean {
    if (!this.take('(')) return false
    for (let depth = 1; depth > 0; this.at++) {
      if (this.next === undefined) return false
      if (this.next === '\\') this.at++
      else if (this.next === '(') depth++
      else if (this.next === ')') depth--
    }
    return true
  }
}

const isPrintable = (char: string): boolean => char === ' ' || char === '\t' || (char >= '!' && char !== '\u007f')
const isAtomChar = (char: string, mayHaveDots: boolean): boolean =>
  char === '.' ? mayHaveDots : char > ' ' && char !== '\u007f' && !'()[];@\\,<>":'.includes(char)

function readAddress(scanner: MailScanner): boolean {
  scanner.skipSpace()
  const hasName = scanner.next === '"' ? (scanner.quoted() ?? 0) > 0 : scanner.dotAtom()
  if (!hasName || !scanner.take('@')) return false
  scanner.skipSpace()
  return scanner.dotAtom()
}

function readName(scanner: MailScanner): boolean {
  let count = 0
  for (scanner.skipSpace(); scanner.next !== undefined && scanner.next !== '<'; scanner.skipSpace()) {
    const isWord = scanner.next === '"' ? scanner.quoted() !== undefined : scanner.atom(true) !== undefined
    if (!isWord) return false
    count++
  }
  return count > 0 || scanner.next === '<'
}

function isMailAddress(text: string): boolean {
  let scanner = new MailScanner(text)
  if (!readAddress(scanner)) {
    scanner = new MailScanner(text)
    if (!readName(scanner) || !scanner.take('<') || !readAddress(scanner) || !scanner.take('>')) return false
  }
  scanner.skipSpace()
  if (scanner.next === '(' && !scanner.comment()) return false
  scanner.skipSpace()
  return scanner.next === undefined
}

type FormatRule = (text: string) => boolean

const matches =
  (pattern: RegExp): FormatRule =>
  (text) =>
    pattern.test(text)

const hex = '[0-9a-fA-F]'
const uuidOf = (third: string, fourth: string): FormatRule => matches(new RegExp(`^${hex}{8}-?${hex}{4}-?${third}-?${fourth}-?${hex}{12}$`))

const anyGroup = `${hex}{4}`
const variantGroup = `[89abAB]${hex}{3}`
const withoutSeparators = (text: string): string => text.replace(/[\s-]/g, '')

const isDate: FormatRule = (text) => typeof parseDate(text) === 'bigint'

const timeOfDay = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u

/** Accepts lower case, does not check offsets. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t')
  const parts = timeOfDay.exec(time ?? '')
  return parts !== null && isDate(date) && (parts[1] as string) <= '23' && (parts[2] as string) <= '59' && (parts[3] as string) <= '59'
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/

/** Checks issuer prefix and Luhn checksum, ignores separators. */
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
  const isbn = withoutSeparators(text)
  const sum = [...isbn].reduce((total, digit, i) => total + (digit === 'X' ? 10 : Number(digit)) * (10 - i), 0)
  return /^\d{9}[\dX]$/.test(isbn) && sum % 11 === 0
}

const isIsbn13: FormatRule = (text) => {
  const isbn = withoutSeparators(text)
  const sum = [...isbn].reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0)
  return /^\d{13}$/.test(isbn) && sum % 10 === 0
}

const labelChar = '[a-zA-Z0-9\\p{S}\\p{L}]'
const labelCharOrDash = '[a-zA-Z0-9\\p{S}\\p{L}-]'
/** Compiled on first use: Unicode patterns take milliseconds. */
let hostnames: readonly [oneLabel: RegExp, manyLabels: RegExp] | undefined

/** As in kube-apiserver: one label, or several whose last one has at least two letters. */
function isHostname(text: string): boolean {
  const bytes = (part: string): number => new TextEncoder().encode(part).length
  if (text.length > 255 || bytes(text) > 255) return false
  hostnames ??= [
    new RegExp(`^${labelChar}-?${labelChar}{0,62}$`, 'u'),
    new RegExp(`^(?:${labelChar}(?:${labelCharOrDash}{0,61}${labelChar})?\\.)+[a-zA-Z\\p{L}]{2,63}$`, 'u'),
  ]
  return hostnames.some((pattern) => pattern.test(text)) && text.split('.').every((label) => bytes(label) <= 63)
}

function isHardwareAddress(text: string): boolean {
  const byPairs = /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2})+$/.test(text)
  const byFours = /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text)
  const length = byPairs ? (text.length + 1) / 3 : byFours ? ((text.length + 1) / 5) * 2 : 0
  return length === 6 || length === 8 || length === 20
}

/** Leading zeros are rejected in these formats, but accepted in other IP fields of the API. */
const hasLeadingZero = (text: string): boolean => /(?:^|[.:])0\d+(?=\.)|\.0\d/.test(text)
const isAddress: FormatRule = (text) => parseIp(text) !== undefined && !hasLeadingZero(text)

const byteOfColor = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'

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
  uri: (text) => requestUrlProblem(text) === undefined,
  uuid: uuidOf(anyGroup, anyGroup),
  uuid3: uuidOf(`3${hex}{3}`, anyGroup),
  uuid4: uuidOf(`4${hex}{3}`, variantGroup),
  uuid5: uuidOf(`5${hex}{3}`, variantGroup),
}

const ruleOf = (format: string): FormatRule | undefined => {
  const name = format.replaceAll('-', '')
  return Object.hasOwn(formats, name) ? formats[name] : undefined
}

export const isKnownFormat = (format: string | undefined): boolean => format !== undefined && ruleOf(format) !== undefined

export const isOfFormat = (format: string, text: string): boolean => ruleOf(format)?.(text) ?? true
