// Query string parser, as lenient as kube-apiserver, and decoder of percent escapes.

export interface Query {
  first(name: string): string | undefined
  all(name: string): readonly string[]
  readonly isEmpty: boolean
}

const noValues: readonly string[] = []

export const emptyQuery: Query = { first: () => undefined, all: () => noValues, isEmpty: true }

let lastText = ''
let lastQuery: Query = emptyQuery

/** Caches the last query, because several steps of a request read it. */
export function readQuery(text: string): Query {
  if (text === '') return emptyQuery
  if (text !== lastText) {
    lastQuery = parseQuery(text)
    lastText = text
  }
  return lastQuery
}

/** Skips undecodable parts and parts with a semicolon, like kube-apiserver. Decodes values on access: a query may have 30,000 of them. */
function parseQuery(text: string): Query {
  const parameters = new Map<string, string[]>()
  for (const part of text.split('&')) {
    if (part === '' || part.includes(';')) continue
    const equals = part.indexOf('=')
    const escaped = equals < 0 ? part : part.slice(0, equals)
    // All known parameter names are ASCII, so escaped non-ASCII names are skipped.
    const name = highEscape.test(escaped) ? undefined : decode(escaped)
    if (name === undefined) continue
    const value = equals < 0 ? '' : part.slice(equals + 1)
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  const all = (name: string): readonly string[] =>
    parameters
      .get(name)
      ?.map(decode)
      .filter((value) => value !== undefined) ?? noValues
  return { first: (name) => all(name)[0], all, isEmpty: parameters.size === 0 }
}

const decode = (text: string): string | undefined => decodeEscapes(text.includes('+') ? text.replaceAll('+', ' ') : text)

const badEscape = /%(?![0-9a-fA-F]{2})/
const highEscape = /%[89a-fA-F]/
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns undefined for an invalid escape. Invalid UTF-8 becomes U+FFFD. */
export function decodeEscapes(text: string): string | undefined {
  if (!text.includes('%')) return text
  if (badEscape.test(text)) return undefined
  if (!highEscape.test(text)) return decodeURIComponent(text)
  const bytes = encoder.encode(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === 0x25
    bytes[length++] = isEscape
      ? Number.parseInt(String.fromCharCode(bytes[at + 1] as number, bytes[at + 2] as number), 16)
      : (bytes[at] as number)
    if (isEscape) at += 2
  }
  return decoder.decode(bytes.subarray(0, length))
}
