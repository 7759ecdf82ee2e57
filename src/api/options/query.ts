// The parameters of a request, read from the text behind the question mark. Most requests have none, and then nothing is made.

export interface Query {
  /** What counts when a parameter is given more than once. */
  first(name: string): string | undefined
  all(name: string): readonly string[]
  readonly isEmpty: boolean
}

const nothing: readonly string[] = []

export const emptyQuery: Query = { first: () => undefined, all: () => nothing, isEmpty: true }

let lastText = ''
let lastQuery: Query = emptyQuery

/** The query of a text. The last one is kept, for the several places that ask on the way of one request. */
export function readQuery(text: string): Query {
  if (text === '') return emptyQuery
  if (text !== lastText) {
    lastQuery = parseQuery(text)
    lastText = text
  }
  return lastQuery
}

/** A part that cannot be decoded, or that has a semicolon in it, is passed over, as the reference does. */
function parseQuery(text: string): Query {
  const parameters = new Map<string, string[]>()
  for (const part of text.split('&')) {
    if (part === '' || part.includes(';')) continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? '' : decode(part.slice(equals + 1))
    if (name === undefined || value === undefined) continue
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return {
    first: (name) => parameters.get(name)?.[0],
    all: (name) => parameters.get(name) ?? nothing,
    isEmpty: parameters.size === 0,
  }
}

/**
 * The same without reading it all: for those of whom it is not known yet who they are. A look-up passes over the text once; nothing is made
 * but the value that is looked for.
 */
export const scanQuery = (text: string): Query => ({
  first: (name) => scan(text, name).next().value,
  all: (name) => [...scan(text, name)],
  isEmpty: text === '',
})

function* scan(text: string, name: string): Generator<string, undefined> {
  for (let at = 0; at <= text.length; ) {
    const mark = text.indexOf('&', at)
    const end = mark < 0 ? text.length : mark
    if (isNamed(text, name, at, end)) {
      const part = text.slice(at, end)
      const equals = part.indexOf('=')
      const value = part.includes(';') ? undefined : equals < 0 ? '' : decode(part.slice(equals + 1))
      if (value !== undefined) yield value
    }
    at = end + 1
  }
  return undefined
}

/** Whether the part from `at` to `end` has the name. A name may be written with escapes, of which none is longer than three characters. */
function isNamed(text: string, name: string, at: number, end: number): boolean {
  const after = at + name.length
  if (text.startsWith(name, at) && (after === end || text[after] === '=')) return true
  // Very many parts that are something else are told by how they begin; names are plain ASCII.
  const first = text[at] === '%' ? escapedByte(text, at) : text.charCodeAt(at)
  if (first !== name.charCodeAt(0)) return false
  const longest = text.slice(at, Math.min(end, at + 3 * name.length + 1))
  if (!longest.includes('%')) return false
  const equals = longest.indexOf('=')
  if (equals < 0 && end > at + longest.length) return false
  return decode(equals < 0 ? longest : longest.slice(0, equals)) === name
}

const decode = (text: string): string | undefined => decodeEscapes(text.includes('+') ? text.replaceAll('+', ' ') : text)

/**
 * Escapes of bytes; undefined where one is none. They are looked at beforehand: a thrown error costs more than the whole text, and whoever likes
 * sends thousands of parts that would throw.
 */
export function decodeEscapes(text: string): string | undefined {
  let isAscii = true
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 3)) {
    const high = hexDigit(text.charCodeAt(at + 1))
    if (high < 0 || hexDigit(text.charCodeAt(at + 2)) < 0) return undefined
    isAscii &&= high < 8
  }
  return isAscii ? (text.includes('%') ? decodeURIComponent(text) : text) : decodeBytes(text)
}

/** -1 for what is no escape. */
function escapedByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at + 1))
  const low = hexDigit(text.charCodeAt(at + 2))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

const percent = 0x25
/** To call the platform's decoder takes a microsecond, and a query can have ten thousand short parts. */
const shortBytes = 64
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Well formed escapes of any bytes: those that are no UTF-8 become the replacement character. */
function decodeBytes(text: string): string {
  if (text.length <= shortBytes && isAsciiText(text)) return decodeShort(text)
  const bytes = encoder.encode(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte !== percent) bytes[length++] = byte
    else {
      bytes[length++] = hexDigit(bytes[at + 1] as number) * 16 + hexDigit(bytes[at + 2] as number)
      at += 2
    }
  }
  return decoder.decode(bytes.subarray(0, length))
}

function isAsciiText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

/** The same for a few bytes, as the decoder of the platform has it: each longest beginning of a character that is none is replaced once. */
function decodeShort(text: string): string {
  let decoded = ''
  let [code, missing, least, most] = [0, 0, 0x80, 0xbf]
  for (let at = 0; at < text.length; at++) {
    const plain = text.charCodeAt(at)
    const byte = plain === percent ? escapedByte(text, at) : plain
    if (plain === percent) at += 2
    if (missing > 0) {
      if (byte >= least && byte <= most) {
        code = code * 64 + (byte & 0x3f)
        ;[least, most] = [0x80, 0xbf]
        if (--missing === 0) decoded += String.fromCodePoint(code)
        continue
      }
      decoded += replacement
      ;[missing, least, most] = [0, 0x80, 0xbf]
    }
    if (byte < 0x80) decoded += String.fromCharCode(byte)
    else if (byte >= 0xc2 && byte <= 0xdf) [code, missing] = [byte & 0x1f, 1]
    else if (byte >= 0xe0 && byte <= 0xef) {
      ;[code, missing] = [byte & 0x0f, 2]
      if (byte === 0xe0) least = 0xa0
      if (byte === 0xed) most = 0x9f
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      ;[code, missing] = [byte & 0x07, 3]
      if (byte === 0xf0) least = 0x90
      if (byte === 0xf4) most = 0x8f
    } else decoded += replacement
  }
  return missing > 0 ? decoded + replacement : decoded
}

const replacement = '\ufffd'

/** Its value; -1 for what is none. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
