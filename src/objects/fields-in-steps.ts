// The fields of a large stored object, parsed in short steps: a plain parse of a megabyte of small items holds the event loop for tens of milliseconds.

import { bodyStartOf, bytesOf } from './entry-header.js'
import { isCurrent, type StoredKind, type StoredObject } from './stored-object.js'

export type Fields = Record<string, unknown>

/** Bytes of an object: to parse more takes milliseconds. */
export const mostReadAtOnce = 64 << 10
/** How much is parsed before others may have a turn: about a quarter of a millisecond. */
const bytesPerStep = 16 << 10
/** How much is passed over: about as long. */
const passedPerStep = 64 << 10
/** What is inside of so many others is parsed in one go: the long lists of a kind are further up. */
const mostDepth = 12
/** Texts are searched for their end beyond that, and walked before. */
const shortText = 64

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const lastBlank = 0x20
/** Of metadata; no kind has another field of this name so far up. */
const managedFields = '"managedFields"'

/**
 * As they are stored, without long managed fields, for which nobody asks here: a time that was never set is null, and a very long number has lost
 * digits. Undefined where the object was written in another version: then it is to be decoded.
 */
export function* fieldsInSteps({ entry }: StoredObject, resource: StoredKind): Generator<undefined, Fields | undefined, undefined> {
  const bytes = bytesOf(entry)
  if (!isCurrent(bytes, resource)) return undefined
  const fields: Fields = {}
  yield* new Parsing(entry.value, bodyStartOf(bytes)).addMembers(fields, 0)
  return fields
}

/** Of bytes that are known to be JSON. */
class Parsing {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** The members of an object or the items of a list, up to the bracket that closes it, or to the end. Many short ones are parsed together. */
  *addMembers(into: Fields | unknown[], depth: number): Generator<undefined, void, undefined> {
    /** What was passed over and not parsed yet. */
    let begun = this.#at
    let end = begun
    for (this.#passBlanks(); !this.#isAtEnd; this.#passBlanks()) {
      if (this.#bytes[this.#at] === comma) {
        this.#at += 1
        continue
      }
      if (begun === end) begun = this.#at
      const key = Array.isArray(into) ? '' : this.#passKey()
      if (this.#passValue(bytesPerStep)) {
        end = this.#at
        if (end - begun < bytesPerStep) continue
        this.#addPassed(into, begun, end)
        begun = end
        yield
      } else {
        this.#addPassed(into, begun, end)
        yield
        if (key === managedFields && depth === 1) yield* this.#passLong()
        else {
          const value = yield* this.#longValue(depth)
          if (Array.isArray(into)) into.push(value)
          else setMember(into, JSON.parse(key) as string, value)
        }
        begun = this.#at
        end = begun
      }
    }
    this.#addPassed(into, begun, end)
    this.#at += 1
  }

  *#longValue(depth: number): Generator<undefined, unknown, undefined> {
    const start = this.#at
    if (depth === mostDepth) {
      this.#passValue(Number.POSITIVE_INFINITY)
      return JSON.parse(this.#bytes.toString('utf8', start, this.#at))
    }
    const value: Fields | unknown[] = this.#bytes[start] === openList ? [] : {}
    this.#at += 1
    yield* this.addMembers(value, depth + 1)
    return value
  }

  *#passLong(): Generator<undefined, void, undefined> {
    let depth = 0
    let paused = this.#at
    do {
      const byte = this.#bytes[this.#at]
      if (byte === openList || byte === openObject) depth += 1
      else if (byte === closeList || byte === closeObject) depth -= 1
      this.#at = byte === quote ? this.#endOfText(this.#at) : this.#at + 1
      if (this.#at - paused < passedPerStep) continue
      paused = this.#at
      yield
    } while (depth > 0 && this.#at < this.#bytes.length)
  }

  #addPassed(into: Fields | unknown[], begun: number, end: number): void {
    if (begun >= end) return
    const text = this.#bytes.toString('utf8', begun, end)
    if (Array.isArray(into)) {
      for (const item of JSON.parse(`[${text}]`) as unknown[]) into.push(item)
      return
    }
    const parsed = JSON.parse(`{${text}}`) as Fields
    for (const key of Object.keys(parsed)) setMember(into, key, parsed[key])
  }

  /** The text of a key, in quotes. */
  #passKey(): string {
    const start = this.#at
    const end = this.#endOfText(start)
    this.#at = end
    this.#passBlanks()
    // A colon stands there.
    this.#at += 1
    this.#passBlanks()
    return this.#bytes.toString('utf8', start, end)
  }

  /** Goes on behind a value; not where it is a list or an object of more bytes, and says so. */
  #passValue(mostBytes: number): boolean {
    const bytes = this.#bytes
    const start = this.#at
    let depth = 0
    for (let at = start; at < bytes.length && at - start <= mostBytes; ) {
      const byte = bytes[at]
      if (byte === quote) at = this.#endOfText(at)
      else if (byte === openList || byte === openObject) {
        depth += 1
        at += 1
        continue
      } else if (byte === closeList || byte === closeObject) {
        depth -= 1
        at += 1
      } else at = depth > 0 ? at + 1 : this.#endOfPlain(at)
      if (depth > 0) continue
      this.#at = at
      return true
    }
    return false
  }

  /** Behind the quote that ends a text. */
  #endOfText(start: number): number {
    const bytes = this.#bytes
    let at = start + 1
    for (const end = at + shortText; at < end && bytes[at] !== quote; ) at += bytes[at] === backslash ? 2 : 1
    if (bytes[at] === quote) return at + 1
    for (let end = bytes.indexOf(quote, at); end >= 0; end = bytes.indexOf(quote, end + 1)) {
      let before = end
      while (before > at && bytes[before - 1] === backslash) before -= 1
      if ((end - before) % 2 === 0) return end + 1
    }
    return bytes.length
  }

  /** Behind a number, true, false or null. */
  #endOfPlain(start: number): number {
    const bytes = this.#bytes
    let at = start
    for (let byte = bytes[at]; byte !== undefined && byte !== comma && byte !== closeList && byte !== closeObject; byte = bytes[at]) at += 1
    return at
  }

  get #isAtEnd(): boolean {
    const byte = this.#bytes[this.#at]
    return byte === undefined || byte === closeList || byte === closeObject
  }

  #passBlanks(): void {
    while ((this.#bytes[this.#at] ?? quote) <= lastBlank) this.#at += 1
  }
}

/** A plain assignment of `__proto__` would be no member. */
function setMember(into: Fields, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true })
  else into[key] = value
}
