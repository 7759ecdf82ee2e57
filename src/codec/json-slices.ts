// Where the members of the members of a JSON document lie in its bytes, found in one pass and without parsing anything: of a document that is too
// large to be read whole, what is wanted is read one by one.

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
/** The last of the blanks; nothing else that a document may have lies before it. */
const blank = 0x20

/** So many bytes are looked at between two yields. */
const strideBytes = 32 << 10

export interface SliceLimits {
  readonly depth: number
}

/** By the name of a member of the document, and of a member of that: the bytes of its value. Of two of the same name, the later. */
export type Slices = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>

/**
 * The members of those members of a document that are wanted; yields after each short step. What is no JSON is not always noticed here: whoever
 * parses a slice finds out. Throws one sentence for what is no object, is cut short or nests too deeply.
 */
export function* sliceMembers(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  { depth: most }: SliceLimits,
): Generator<undefined, Slices, void> {
  const found = new Map<string, Map<string, Uint8Array>>()
  let depth = 0
  let outer = ''
  let inner = ''
  let innerFrom = -1
  /** Whether the next text at the depth 1 or 2 is a name. */
  let isName = false
  let last = 0
  const endInner = (at: number): void => {
    if (innerFrom >= 0) found.get(outer)?.set(inner, bytes.subarray(innerFrom, at))
    innerFrom = -1
  }
  for (let i = 0; i < bytes.length; i++) {
    if (i - last > strideBytes) {
      last = i
      yield
    }
    const byte = bytes[i] as number
    if (byte === quote) {
      const end = endOfString(bytes, i + 1)
      if (end < 0) throw new Error('the document ends within a text')
      if (isName && depth <= 2) {
        const name = JSON.parse(bytes.toString('utf8', i, end + 1)) as string
        if (depth === 1) outer = name
        else inner = name
        isName = false
      }
      i = end
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > most) throw new Error(`the document nests more than ${most} levels deep`)
      if (depth === 1 && byte !== 0x7b) throw new Error('the document is no object')
      isName = byte === 0x7b
      if (depth === 2 && byte === 0x7b && wanted.has(outer)) found.set(outer, new Map())
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 2) endInner(i)
      depth--
    } else if (byte === colon) {
      if (depth === 2 && wanted.has(outer)) innerFrom = i + 1
    } else if (byte === comma) {
      if (depth === 2) endInner(i)
      isName = depth <= 2
    }
  }
  if (depth !== 0 || outer === '') throw new Error('the document is cut short, or empty')
  return found
}

/** The bytes of each item of a list; yields after each short step. Throws one sentence for what is no list or is cut short. */
export function* sliceItems(bytes: Buffer): Generator<undefined, readonly Buffer[], void> {
  const items: Buffer[] = []
  let depth = 0
  let from = -1
  let last = 0
  const endItem = (at: number): void => {
    // Blanks alone are no item.
    let first = from
    while (first < at && (bytes[first] as number) <= blank) first++
    if (first < at) items.push(bytes.subarray(from, at))
    from = at + 1
  }
  for (let i = 0; i < bytes.length; i++) {
    if (i - last > strideBytes) {
      last = i
      yield
    }
    const byte = bytes[i] as number
    if (byte === quote) {
      const end = endOfString(bytes, i + 1)
      if (end < 0) throw new Error('the list ends within a text')
      i = end
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth === 1) {
        if (byte !== 0x5b) throw new Error('this is no list')
        from = i + 1
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 1) endItem(i)
      depth--
    } else if (byte === comma && depth === 1) endItem(i)
  }
  if (depth !== 0 || from < 0) throw new Error('the list is cut short, or there is none')
  return items
}

/** The value of one member among members that follow one another without braces around them; nothing behind it is looked at. */
export function findMember(bytes: Buffer, name: string): Buffer | undefined {
  let depth = 0
  let isName = true
  let from = -1
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) {
      const end = endOfString(bytes, i + 1)
      if (end < 0) return undefined
      if (isName && depth === 0 && bytes.toString('utf8', i + 1, end) === name) {
        from = bytes.indexOf(colon, end) + 1
        i = from - 1
      } else i = end
      isName = false
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) depth--
    else if (byte === comma && depth === 0) {
      if (from >= 0) return bytes.subarray(from, i)
      isName = true
    }
  }
  return from < 0 ? undefined : bytes.subarray(from)
}

/** Where the quote is that ends a text; -1: nowhere. */
function endOfString(bytes: Buffer, from: number): number {
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
