// A list as it comes over the wire, read item by item: a long one is never in memory as a text, and work on it does not wait for its end.

import { ProtocolError } from './errors.js'
import type { ObjectList } from './objects.js'

/** Items are parsed together until so many characters have come: each call of the parser costs something. */
const usualBatchLength = 8 * 1024
/** What an item, or what stands around the items, may hold at most. */
const longestPart = 128 * 1024 * 1024

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 44, 91, 93, 123, 125] as const

export async function readList<T>(chunks: AsyncIterable<string>): Promise<ObjectList<T>> {
  const reader = new ListReader<T>()
  for await (const chunk of chunks) reader.take(chunk)
  return reader.end()
}

export class ListReader<T> {
  private readonly batchLength: number
  private readonly items: T[] = []
  /** What stands before the items, and after them. */
  private around = ''
  private text = ''
  /** Up to where the text was looked at. */
  private at = 0
  /** Up to where it ends with a whole item. */
  private whole = 0
  private depth = 0
  private isInItems = false
  private hasItems = false
  private key = ''

  constructor(batchLength = usualBatchLength) {
    this.batchLength = batchLength
  }

  take(chunk: string): void {
    this.text = this.text === '' ? chunk : this.text + chunk
    this.scan()
    if (this.isInItems && this.whole >= this.batchLength) this.parseItems()
    if (this.text.length > longestPart) throw new ProtocolError('a part of the list is too long')
  }

  end(): ObjectList<T> {
    const list = parse(this.around + this.text) as ObjectList<T>
    if (typeof list !== 'object' || list === null) throw new ProtocolError('the answer is no list')
    return { ...list, items: this.hasItems ? this.items : (list.items ?? []) }
  }

  private scan(): void {
    let { text } = this
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at)
      if (code === quote) {
        const end = endOfString(text, this.at + 1)
        // The rest of it comes with the next chunk.
        if (end < 0) return
        if (this.depth === 1) this.key = text.slice(this.at + 1, end)
        this.at = end + 1
        continue
      }
      this.at++
      if (code === openBrace || code === openBracket) {
        this.depth++
        if (code === openBracket && this.depth === 2 && this.key === 'items' && !this.hasItems) this.beginItems()
      } else if (code === closeBrace || code === closeBracket) {
        this.depth--
        if (!this.isInItems) continue
        if (this.depth === 2) this.whole = this.at
        else if (this.depth === 1) this.endItems()
      }
      text = this.text
    }
  }

  /** The text begins with the first item from here on. */
  private beginItems(): void {
    this.hasItems = true
    this.isInItems = true
    this.around = this.text.slice(0, this.at)
    this.cut(this.at)
  }

  private endItems(): void {
    this.parseItems()
    this.isInItems = false
    this.around += this.text.slice(0, this.at)
    this.cut(this.at)
  }

  private parseItems(): void {
    if (this.whole === 0) return
    // What separates this item from the one before may have come with either.
    let start = 0
    while (isBetween(this.text.charCodeAt(start))) start++
    for (const item of parse(`[${this.text.slice(start, this.whole)}]`) as T[]) this.items.push(item)
    this.cut(this.whole)
    this.whole = 0
  }

  private cut(length: number): void {
    this.text = this.text.slice(length)
    this.at -= length
  }
}

/** What separates two items. */
const isBetween = (code: number): boolean => code === comma || code === 32 || code === 10 || code === 13 || code === 9

/** Where the string ends that begins at `start`; -1 where its end is not there yet. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start)
  while (end >= 0) {
    let slashes = 0
    while (end - slashes > start && text.charCodeAt(end - slashes - 1) === backslash) slashes++
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return -1
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolError(`the list is no JSON: ${text.slice(0, 100)}`, { cause })
  }
}
