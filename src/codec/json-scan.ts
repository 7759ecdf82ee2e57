// One quick pass over JSON bytes that finds what the native parser does not tell: how many members there are (so that
// duplicates show as a difference), how deep it nests, and whether a number is too long to be kept exactly.

export interface JsonScan {
  readonly members: number
  readonly depth: number
  readonly longNumber: boolean
  /** Whether a number has a point or an exponent. */
  readonly decimals: boolean
}

const quote = 0x22
const backslash = 0x5c
const point = 0x2e
const exponent = 0x65

/** Strings longer than this are skipped by the platform's own search, which has a price of its own but looks at many bytes at once. */
const longString = 64

export function scanJson(bytes: Uint8Array): JsonScan {
  const isPlain = !bytes.includes(backslash)
  let members = 0
  let level = 0
  let depth = 0
  let digits = 0
  let longNumber = false
  let decimals = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > 15) longNumber = true
      continue
    }
    digits = 0
    if (byte === quote) i = isPlain ? endOfPlainString(bytes, i + 1) : endOfString(bytes, i + 1)
    else if (byte === 0x3a) members++
    else if (byte === 0x7b || byte === 0x5b) {
      if (++level > depth) depth = level
    } else if (byte === 0x7d || byte === 0x5d) level--
    else if (byte === point || ((byte | 0x20) === exponent && isDigit(bytes[i - 1]))) decimals = true
  }
  return { members, depth, longNumber, decimals }
}

/** The letter of an exponent ends `true` and `false`, too. */
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** How many items the list has that the text is, at most: an empty one counts as one, and all else as none. */
export function countItems(bytes: Uint8Array): number {
  let isList = false
  let commas = 0
  let level = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) i = endOfString(bytes, i + 1)
    else if (byte === 0x2c) {
      if (level === 1) commas++
    } else if (byte === 0x7b || byte === 0x5b) {
      if (level++ === 0) isList = byte === 0x5b
    } else if (byte === 0x7d || byte === 0x5d) level--
  }
  return isList ? commas + 1 : 0
}

function endOfString(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === quote) return i
    if (byte === backslash) i++
  }
  return bytes.length
}

/** The end of a string in a text that escapes nothing. */
function endOfPlainString(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + longString, bytes.length)
  for (let i = from; i < near; i++) if (bytes[i] === quote) return i
  const found = bytes.indexOf(quote, near)
  return found < 0 ? bytes.length : found
}

/** How many members all objects inside a value have together. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countMembers(value[i])
    return count
  }
  for (const key in value) count += 1 + countMembers((value as Record<string, unknown>)[key])
  return count
}
