// Where the members and items of a JSON document lie in its bytes, found without parsing anything: of a document that is too large to be read
// whole, what is wanted is read one by one.

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
/** The last of the blanks; nothing else that a document may have lies before it. */
const blank = 0x20

/** So many bytes are looked at between two yields. */
const strideBytes = 32 << 10

export interface SliceLimits {
  readonly depth: number
}

/** By the name of a member: the bytes of its value. Of two of the same name, the later. */
export type Slices = ReadonlyMap<string, Buffer>

type Steps<T> = Generator<undefined, T, void>

const noLimits: SliceLimits = { depth: Number.POSITIVE_INFINITY }

/**
 * The members of a document; yields after each short step. What is no JSON is not always noticed here: whoever parses a slice finds out. Throws
 * one sentence for what is no object, is cut short or nests too deeply.
 */
export function* sliceRecord(bytes: Buffer, limits: SliceLimits = noLimits): Steps<Slices> {
  const found = new Map<string, Buffer>()
  yield* eachPart(bytes, openBrace, limits, (from, to) => {
    // A name ends where its value begins.
    const quoted = bytes.indexOf(quote, from)
    const end = quoted < 0 || quoted >= to ? -1 : endOfString(bytes, quoted + 1)
    const begin = end < 0 ? -1 : bytes.indexOf(colon, end)
    if (begin < 0 || begin >= to) throw new Error('the document has a member without a name')
    found.set(JSON.parse(bytes.toString('utf8', quoted, end + 1)) as string, bytes.subarray(begin + 1, to))
  })
  return found
}

/** The members of those members of a document that are wanted and are objects, too. */
export function* sliceMembers(bytes: Buffer, wanted: ReadonlySet<string>, limits: SliceLimits): Steps<ReadonlyMap<string, Slices>> {
  const found = new Map<string, Slices>()
  for (const [name, value] of yield* sliceRecord(bytes, limits))
    if (wanted.has(name) && isRecordText(value)) found.set(name, yield* sliceRecord(value))
  return found
}

/** The bytes of each item of a list; yields after each short step. Throws one sentence for what is no list or is cut short. */
export function* sliceItems(bytes: Buffer): Steps<readonly Buffer[]> {
  const items: Buffer[] = []
  yield* eachPart(bytes, openBracket, noLimits, (from, to) => items.push(bytes.subarray(from, to)))
  return items
}

export const isRecordText = (bytes: Buffer): boolean => bytes[firstIn(bytes, 0, bytes.length)] === openBrace
export const isListText = (bytes: Buffer): boolean => bytes[firstIn(bytes, 0, bytes.length)] === openBracket

/** Tells where each part of an object or a list begins and ends, with the blanks around it. */
function* eachPart(bytes: Buffer, opening: number, { depth: most }: SliceLimits, tell: (from: number, to: number) => void): Steps<void> {
  let depth = 0
  let from = -1
  let last = 0
  const endPart = (at: number): void => {
    // Blanks alone are no part.
    if (firstIn(bytes, from, at) < at) tell(from, at)
    from = at + 1
  }
  for (let i = 0; i < bytes.length; i++) {
    if (i - last > strideBytes) {
      last = i
      yield
    }
    const byte = bytes[i] as number
    if (byte === quote) {
      i = endOfString(bytes, i + 1)
      if (i < 0) throw new Error('the document ends within a text')
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > most) throw new Error(`the document nests more than ${most} levels deep`)
      if (depth > 1) continue
      if (byte !== opening) throw new Error(`the document is no ${opening === openBrace ? 'object' : 'list'}`)
      from = i + 1
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 1) endPart(i)
      depth--
    } else if (byte === comma && depth === 1) endPart(i)
  }
  if (depth !== 0 || from < 0) throw new Error('the document is cut short, or empty')
}

export interface KeptMembers {
  readonly members: readonly string[]
  /** Where the brace stands that closes the object, or the name of the member `last`. */
  readonly end: number
}

/**
 * The members of an object as they are written, without those of some names; `from` is the place of the name of one of them, and nothing before it
 * is looked at, nor anything from the member `last` on. Undefined where the bytes end before the object does.
 */
export function membersWithout(
  bytes: Buffer,
  from: number,
  { names, last }: { readonly names: ReadonlySet<string>; readonly last: string },
): KeptMembers | undefined {
  const members: string[] = []
  let at = firstIn(bytes, from, bytes.length)
  while (bytes[at] === quote) {
    const nameEnd = endOfString(bytes, at + 1)
    if (nameEnd < 0) return undefined
    const name = bytes.toString('utf8', at + 1, nameEnd)
    if (name === last) return { members, end: at }
    const end = endOfMember(bytes, nameEnd + 1)
    if (end < 0) return undefined
    if (!names.has(name)) members.push(bytes.toString('utf8', at, end))
    if (bytes[end] === closeBrace) return { members, end }
    at = firstIn(bytes, end + 1, bytes.length)
  }
  return bytes[at] === closeBrace ? { members, end: at } : undefined
}

/** Where the comma or the brace stands that ends a member, from behind its name; -1: nowhere. One plain loop, for what may be a megabyte of short texts. */
export function endOfMember(bytes: Buffer, from: number): number {
  const { length } = bytes
  let depth = 0
  for (let i = from; i < length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) {
      const near = i + nearBytes
      for (i++; i < near && bytes[i] !== quote && bytes[i] !== backslash; ) i++
      if (bytes[i] === quote) continue
      i = endOfString(bytes, i)
      if (i < 0) return -1
    } else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === comma) {
      if (depth === 0) return i
    } else if ((byte === closeBrace || byte === closeBracket) && --depth < 0) return i
  }
  return -1
}

/** Where the first byte is that is no blank. */
function firstIn(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at] as number) <= blank) at++
  return at
}

/** Most texts are short, and to ask the platform for a place costs as much as so many bytes. */
const nearBytes = 48

/** Where the quote is that ends a text; -1: nowhere. */
export function endOfString(bytes: Buffer, from: number): number {
  const near = Math.min(from + nearBytes, bytes.length)
  for (let i = from; i < near && bytes[i] !== backslash; i++) if (bytes[i] === quote) return i
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
