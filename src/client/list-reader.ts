// A list as it comes over the wire, read item by item: a long one is never in memory as a text, and work on it does not wait for its end.

import { ProtocolError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'
import type { ObjectList } from './objects.js'

/** Items are parsed together until so many bytes have come: each call of the parser costs something. */
const usualBatchLength = 8 * 1024
/** What an item, or what stands around the items, may hold at most. */
const longestPart = 128 * 1024 * 1024

const [quote, comma, openBracket, backslash, closeBracket, openBrace, closeBrace] = [34, 44, 91, 92, 93, 123, 125] as const

export async function readList<T>(chunks: AsyncIterable<Uint8Array>): Promise<ObjectList<T>> {
  const reader = new ListReader<T>()
  for await (const chunk of chunks) reader.take(chunk)
  return reader.end()
}

export class ListReader<T> {
  private readonly batchLength: number
  private readonly items: T[] = []
  private readonly decoder = new TextDecoder()
  /** What stands before the items. */
  private head = ''
  /** From the bracket or comma before an item on, once there are items. */
  private readonly read = new GrowingBytes(longestPart)
  /** Up to where it was looked at. */
  private at = 0
  /** Up to where it ends with a whole item. */
  private whole = 0
  private depth = 0
  private isInString = false
  /** Where the last string of the outermost object begins, and where it ends. */
  private keyStart = 0
  private keyEnd = 0
  private isInItems = false
  private hasItems = false

  constructor(batchLength = usualBatchLength) {
    this.batchLength = batchLength
  }

  take(chunk: Uint8Array): void {
    try {
      this.read.append(chunk)
    } catch (cause) {
      throw new ProtocolError('a part of the list is too long', { cause })
    }
    this.scan()
    if (this.isInItems && this.whole >= this.batchLength) this.parseItems()
  }

  end(): ObjectList<T> {
    const { bytes, length } = this.read
    const list = this.parse(`${this.head}${this.decoder.decode(bytes.subarray(0, length))}`) as ObjectList<T>
    if (typeof list !== 'object' || list === null) throw new ProtocolError('the answer is no list')
    return { ...list, items: this.hasItems ? this.items : (list.items ?? []) }
  }

  private scan(): void {
    while (this.at < this.read.length) {
      if (this.isInString) this.skipString()
      else this.skipToString()
    }
  }

  /** To behind the end of the string, or of what has come of it. */
  private skipString(): void {
    const { bytes, length } = this.read
    let { at } = this
    while (at < length) {
      const code = bytes[at++]
      if (code === backslash) at++
      else if (code === quote) {
        this.isInString = false
        this.keyEnd = at - 1
        break
      }
    }
    this.at = at
  }

  /** Over brackets and what else is no string. */
  private skipToString(): void {
    const { bytes, length } = this.read
    while (this.at < length) {
      const code = bytes[this.at++]
      if (code === quote) {
        this.isInString = true
        if (this.depth === 1) this.keyStart = this.at
        return
      }
      if (code === openBrace || code === openBracket) {
        this.depth++
        if (code === openBracket && this.depth === 2 && !this.hasItems && this.isItemsKey()) {
          this.beginItems()
          return
        }
      } else if (code === closeBrace || code === closeBracket) {
        this.depth--
        if (!this.isInItems) continue
        if (this.depth === 2) this.whole = this.at
        else if (this.depth === 1) {
          this.endItems()
          return
        }
      }
    }
  }

  private isItemsKey(): boolean {
    return this.decoder.decode(this.read.bytes.subarray(this.keyStart, this.keyEnd)) === 'items'
  }

  private beginItems(): void {
    this.hasItems = true
    this.isInItems = true
    this.head = this.decoder.decode(this.read.bytes.subarray(0, this.at))
    this.drop(this.at - 1)
  }

  private endItems(): void {
    this.parseItems()
    this.isInItems = false
    this.drop(this.at - 1)
  }

  /** The bytes around the items become the brackets of a list of their own. */
  private parseItems(): void {
    if (this.whole === 0) return
    const { bytes } = this.read
    let start = 0
    while (start < this.whole && (isSpace(bytes[start]) || bytes[start] === comma || bytes[start] === openBracket)) start++
    const next = bytes[this.whole] as number
    bytes[start - 1] = openBracket
    bytes[this.whole] = closeBracket
    const text = this.decoder.decode(bytes.subarray(start - 1, this.whole + 1))
    bytes[this.whole] = next
    for (const item of this.parse(text) as T[]) this.items.push(item)
    this.drop(this.whole)
    this.whole = 0
  }

  private drop(count: number): void {
    this.read.drop(count)
    this.at -= count
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new ProtocolError(`the list is no JSON: ${text.slice(0, 100)}`, { cause })
    }
  }
}

const isSpace = (code: number | undefined): boolean => code === 32 || code === 10 || code === 13 || code === 9
