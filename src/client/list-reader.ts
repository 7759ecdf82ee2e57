// A list as it comes over the wire, parsed some items at a time: a long one is never in memory as a text, and work on it does not wait for its end.

import { type DecodeText, decodeText } from './decode-text.js'
import { ProtocolError } from './errors.js'
import { GrowingBytes } from './growing-bytes.js'
import type { ObjectList } from './objects.js'
import { checkShape, type Shape } from './shape.js'
import type { TransportResponse } from './transport.js'

/** Items are parsed together when so many bytes have come: each call of the parser costs something. */
const usualBatchLength = 100 * 1024
/** What is not parsed yet may hold so much at most. */
const longestPart = 128 * 1024 * 1024
/** The items begin within so many bytes, or are read as a whole. */
const longestHead = 64 * 1024

const listShape: Shape = { kind: 'text', apiVersion: 'text', metadata: { continue: 'text', resourceVersion: 'text' }, items: ['any'] }

const [comma, openBracket, closeBracket, closeBrace] = [44, 91, 93, 125] as const

export async function readList<T>(response: Pick<TransportResponse, 'chunks' | 'forEachChunk' | 'decode'>): Promise<ObjectList<T>> {
  const reader = new ListReader<T>(usualBatchLength, response.decode)
  if (response.forEachChunk !== undefined) await response.forEachChunk((chunk) => reader.take(chunk))
  else for await (const chunk of response.chunks()) reader.take(chunk)
  return reader.end()
}

/**
 * Items are told apart by how the first one begins (`},{"metadata":{`), which costs far less than to look at each byte. In JSON those bytes are
 * never part of a string. Where they stand deeper inside of an item, what is before them is no JSON, and the rest of the list is parsed as a whole.
 */
export class ListReader<T> {
  private readonly batchLength: number
  /** Joined at the end: a loop over the items of each would be compiled for more than it does. */
  private readonly batches: (readonly T[])[] = []
  private readonly decode: DecodeText
  /** What stands before the items, with their bracket. */
  private head = ''
  /** From the bracket or the comma before an item on, once there are items. */
  private readonly read = new GrowingBytes(longestPart, 128 * 1024)
  /** The end of an item and the beginning of the next. Undefined until there are items; empty where all is parsed at the end. */
  private boundary: Uint8Array | undefined
  /** So much is waited for before it is looked for a boundary. */
  private wanted: number

  constructor(batchLength = usualBatchLength, decode = decodeText) {
    this.decode = decode
    this.batchLength = batchLength
    this.wanted = batchLength
  }

  take(chunk: Uint8Array): void {
    try {
      this.read.append(chunk)
    } catch (cause) {
      throw new ProtocolError('a part of the list is too long', { cause })
    }
    if (this.read.length < this.wanted) return
    this.boundary ??= this.beginItems()
    if (this.boundary !== undefined && this.boundary.length > 0) this.parseItems(this.boundary)
    // Twice as much before it is looked at again what was looked at without success.
    this.wanted = Math.max(this.batchLength, 2 * this.read.length)
  }

  end(): ObjectList<T> {
    const { bytes, length } = this.read
    const rest = bytes.subarray(this.head === '' ? 0 : 1, length)
    const list = this.parse(`${this.head}${this.decode(rest)}`) as ObjectList<T>
    checkShape(list, listShape, 'a list')
    const metadata = list.metadata ?? {}
    if (this.head === '') return { ...list, metadata, items: list.items ?? [] }
    this.batches.push(list.items ?? [])
    return { ...list, metadata, items: this.batches.flat() as T[] }
  }

  /** The boundary, once enough has come to know it. */
  private beginItems(): Uint8Array | undefined {
    // A character for each byte, so that places in both are the same.
    const text = new TextDecoder('latin1').decode(this.read.bytes.subarray(0, Math.min(this.read.length, longestHead)))
    const found = firstItem.exec(text)
    if (found === null) return text.length < longestHead ? undefined : nothing
    const [, head = '', beginning = ''] = found
    // Whether they are the items of the list itself.
    if (!isAscii.test(head) || parsedOrUndefined(`${head}]}`) === undefined) return nothing
    this.head = head
    this.read.drop(head.length - 1)
    return new TextEncoder().encode(`},{${beginning}`)
  }

  /** The bytes around the items become the brackets of a list of their own. */
  private parseItems(boundary: Uint8Array): void {
    const { bytes, length } = this.read
    const end = lastIndexOf(bytes, boundary, length)
    if (end < 0) return
    bytes[0] = openBracket
    bytes[end + 1] = closeBracket
    const items = parsedOrUndefined(this.decode(bytes.subarray(0, end + 2))) as T[] | undefined
    bytes[end + 1] = comma
    if (items === undefined) {
      this.boundary = nothing
      return
    }
    this.batches.push(items)
    this.read.drop(end + 1)
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new ProtocolError(`the list is no JSON: ${text.slice(0, 100)}`, { cause })
    }
  }
}

const nothing = new Uint8Array()

/** The head of the list, and what the first item begins with: what all items have in common, or the name of the first field. */
const firstItem = /^(\{.*?"items":\[)\{((?:"apiVersion":"[^"\\]*",)?(?:"kind":"[^"\\]*",)?"[^"\\]*":)/s

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // It is parsed as a part of the whole, which says what is wrong with it.
    return undefined
  }
}

const isAscii = /^[ -~]*$/

function lastIndexOf(bytes: Uint8Array, wanted: Uint8Array, length: number): number {
  let at = bytes.lastIndexOf(closeBrace, length - wanted.length)
  while (at >= 0 && !startsAt(bytes, wanted, at)) at = at === 0 ? -1 : bytes.lastIndexOf(closeBrace, at - 1)
  return at
}

function startsAt(bytes: Uint8Array, wanted: Uint8Array, at: number): boolean {
  for (let i = 1; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}
