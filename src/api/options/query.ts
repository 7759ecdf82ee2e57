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
  if (text[at] !== '%' && text[at] !== name[0]) return false
  const longest = text.slice(at, Math.min(end, at + 3 * name.length + 1))
  if (!longest.includes('%')) return false
  const equals = longest.indexOf('=')
  if (equals < 0 && end > at + longest.length) return false
  return decode(equals < 0 ? longest : longest.slice(0, equals)) === name
}

function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return /%(?![0-9A-Fa-f]{2})/.test(spaced) ? undefined : decodeBytes(spaced)
  }
}

/** Percent signs that are well formed but name bytes that are no UTF-8: those become the replacement character. */
function decodeBytes(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const decoded: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte !== 0x25) decoded.push(byte)
    else {
      decoded.push(Number.parseInt(String.fromCharCode(bytes[at + 1] as number, bytes[at + 2] as number), 16))
      at += 2
    }
  }
  return new TextDecoder().decode(Uint8Array.from(decoded))
}
