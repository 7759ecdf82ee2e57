// The items of one list of a stored object, parsed in short steps: a list of tens of thousands would hold the event loop for tens of milliseconds.

import { bodyStartOf, bytesOf, spliceOf } from './entry-header.js'
import { isCurrent, type StoredKind, type StoredObject } from './stored-object.js'

/** How much is parsed before others may have a turn: about a quarter of a millisecond. */
const bytesPerStep = 16 << 10

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Of a field of the object itself. Undefined where it is not there, or where a plain parse is not enough: then it is to be decoded. */
export function* listInSteps(
  { entry }: StoredObject,
  resource: StoredKind,
  field: string,
): Generator<undefined, readonly unknown[] | undefined, undefined> {
  const bytes = bytesOf(entry)
  // The upper bits say what a plain parse would get wrong.
  if (spliceOf(bytes) >>> 30 !== 0 || !isCurrent(bytes, resource)) return undefined
  const start = findList(entry.value, bodyStartOf(bytes), field)
  return start === undefined ? undefined : yield* itemsFrom(entry.value, start)
}

/** Where the first item of a list begins. */
function findList(bytes: Buffer, from: number, field: string): number | undefined {
  const key = Buffer.from(`"${field}":[`)
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      if (depth === 0 && bytes.compare(key, 0, key.length, at, Math.min(at + key.length, bytes.length)) === 0) return at + key.length
      at = endOfText(bytes, at)
      // What follows a name is its value, which may be a text like any name.
      if (depth === 0 && bytes[at + 1] === colon && bytes[at + 2] === quote) at = endOfText(bytes, at + 2)
    } else if (byte === openList || byte === openObject) depth += 1
    else if (byte === closeList || byte === closeObject) depth -= 1
  }
  return undefined
}

function* itemsFrom(bytes: Buffer, start: number): Generator<undefined, readonly unknown[] | undefined, undefined> {
  const items: unknown[] = []
  let depth = 0
  let begun = start
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === openList || byte === openObject) depth += 1
    else if (depth > 0 && (byte === closeList || byte === closeObject)) depth -= 1
    else if (depth === 0 && byte === closeList) {
      addItems(items, bytes.toString('utf8', begun, at))
      return items
    } else if (depth === 0 && byte === comma && at - begun >= bytesPerStep) {
      addItems(items, bytes.toString('utf8', begun, at))
      begun = at + 1
      yield
    }
  }
  return undefined
}

function addItems(items: unknown[], text: string): void {
  for (const item of JSON.parse(`[${text}]`) as unknown[]) items.push(item)
}

/** The place of the quote that ends a text. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
