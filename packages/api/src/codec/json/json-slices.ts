// Finds the byte ranges of members and items in a JSON document without parsing it, for documents too large to parse whole.

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const blank = 0x20

interface SliceLimits {
  readonly depth: number
}

export type Slices = ReadonlyMap<string, Buffer>

const noLimits: SliceLimits = { depth: Number.POSITIVE_INFINITY }

/** Throws for non-objects, truncation and deep nesting. Other syntax errors appear when a slice is parsed. */
export function sliceRecord(bytes: Buffer, limits: SliceLimits = noLimits): Slices {
  const found = new Map<string, Buffer>()
  forEachSlice(bytes, openBrace, limits, (from, to) => {
    const nameStart = bytes.indexOf(quote, from)
    const nameEnd = nameStart < 0 || nameStart >= to ? -1 : endOfString(bytes, nameStart + 1)
    const nameColon = nameEnd < 0 ? -1 : bytes.indexOf(colon, nameEnd)
    if (nameColon < 0 || nameColon >= to) throw new Error('the document has a member without a name')
    found.set(JSON.parse(bytes.toString('utf8', nameStart, nameEnd + 1)) as string, bytes.subarray(nameColon + 1, to))
  })
  return found
}

/** Slices the members of each wanted top-level member that is an object. */
export function sliceMembers(bytes: Buffer, wanted: ReadonlySet<string>, limits: SliceLimits): ReadonlyMap<string, Slices> {
  const found = new Map<string, Slices>()
  for (const [name, value] of sliceRecord(bytes, limits)) if (wanted.has(name) && isRecordText(value)) found.set(name, sliceRecord(value))
  return found
}

export function sliceItems(bytes: Buffer): readonly Buffer[] {
  const items: Buffer[] = []
  forEachSlice(bytes, openBracket, noLimits, (from, to) => items.push(bytes.subarray(from, to)))
  return items
}

export const isRecordText = (bytes: Buffer): boolean => bytes[firstNonBlank(bytes, 0, bytes.length)] === openBrace
export const isListText = (bytes: Buffer): boolean => bytes[firstNonBlank(bytes, 0, bytes.length)] === openBracket

function forEachSlice(bytes: Buffer, opening: number, { depth: maxDepth }: SliceLimits, onSlice: (from: number, to: number) => void): void {
  let depth = 0
  let from = -1
  const endSlice = (at: number): void => {
    if (firstNonBlank(bytes, from, at) < at) onSlice(from, at)
    from = at + 1
  }
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) {
      i = endOfString(bytes, i + 1)
      if (i < 0) throw new Error('the document ends inside a string')
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxDepth) throw new Error(`the document nests more than ${maxDepth} levels deep`)
      if (depth > 1) continue
      if (byte !== opening) throw new Error(`the document is not ${opening === openBrace ? 'an object' : 'a list'}`)
      from = i + 1
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 1) endSlice(i)
      depth--
    } else if (byte === comma && depth === 1) endSlice(i)
  }
  if (depth !== 0 || from < 0) throw new Error('the document is truncated or empty')
}

function firstNonBlank(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at] as number) <= blank) at++
  return at
}

/** Up to this length a loop is faster than the native search. */
const maxLoopBytes = 48

function endOfString(bytes: Buffer, from: number): number {
  const loopEnd = Math.min(from + maxLoopBytes, bytes.length)
  for (let i = from; i < loopEnd && bytes[i] !== backslash; i++) if (bytes[i] === quote) return i
  let at = from
  for (;;) {
    const end = bytes.indexOf(quote, at)
    if (end < 0) return -1
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash && end - 1 - escapes >= at) escapes++
    if (escapes % 2 === 0) return end
    at = end + 1
  }
}
