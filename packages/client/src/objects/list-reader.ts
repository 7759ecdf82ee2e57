// Streaming parser of JSON lists: parses items in batches as chunks arrive, to keep little unparsed text in memory.

import { ProtocolError } from '../errors.js'
import { checkShape, type Shape } from '../requests/response-shape.js'
import { ByteBuffer, decodeText } from '../transport/byte-buffer.js'
import type { TransportResponse } from '../transport/transport.js'
import type { ObjectList } from './objects.js'

/** Bytes per batch: each call of JSON.parse has overhead. */
const defaultBatchBytes = 100 * 1024
const maxUnparsedBytes = 128 * 1024 * 1024
const maxHeadBytes = 64 * 1024

const listShape: Shape = { kind: 'text', apiVersion: 'text', metadata: { continue: 'text', resourceVersion: 'text' }, items: ['any'] }

const [comma, openBracket, closeBracket, closeBrace] = [44, 91, 93, 125] as const

export async function readList<T>(response: Pick<TransportResponse, 'chunks'>): Promise<ObjectList<T>> {
  const reader = new ListReader<T>()
  for await (const chunk of response.chunks()) reader.append(chunk)
  return reader.end()
}

/** Splits between items at `},{"metadata":`, which no JSON string contains. If a split hits a nested list, parses the rest at the end. */
export class ListReader<T> {
  private readonly batchBytes: number
  private readonly batches: (readonly T[])[] = []
  private head = ''
  private readonly buffer = new ByteBuffer(maxUnparsedBytes, 128 * 1024)
  /** Bytes between two items. Undefined before the first item; empty if the rest is parsed at the end of the list. */
  private boundary: Uint8Array | undefined
  private nextParseLength: number

  constructor(batchBytes = defaultBatchBytes) {
    this.batchBytes = batchBytes
    this.nextParseLength = batchBytes
  }

  append(chunk: Uint8Array): void {
    try {
      this.buffer.append(chunk)
    } catch (cause) {
      throw new ProtocolError(`an item of the list is longer than ${maxUnparsedBytes} bytes`, { cause })
    }
    if (this.buffer.length < this.nextParseLength) return
    this.boundary ??= this.parseHead()
    if (this.boundary !== undefined && this.boundary.length > 0) this.parseItems(this.boundary)
    this.nextParseLength = Math.max(this.batchBytes, 2 * this.buffer.length)
  }

  end(): ObjectList<T> {
    const { bytes, length } = this.buffer
    const rest = bytes.subarray(this.head === '' ? 0 : 1, length)
    const list = this.parse(`${this.head}${decodeText(rest)}`) as ObjectList<T>
    checkShape(list, listShape, 'a list')
    const metadata = list.metadata ?? {}
    if (this.head === '') return { ...list, metadata, items: list.items ?? [] }
    this.batches.push(list.items ?? [])
    return { ...list, metadata, items: this.batches.flat() as T[] }
  }

  private parseHead(): Uint8Array | undefined {
    // latin1 has one character per byte, so offsets in text and bytes agree.
    const text = new TextDecoder('latin1').decode(this.buffer.bytes.subarray(0, Math.min(this.buffer.length, maxHeadBytes)))
    const found = firstItemPattern.exec(text)
    if (found === null) return text.length < maxHeadBytes ? undefined : noBoundary
    const [, head = '', beginning = ''] = found
    if (!asciiPattern.test(head) || parseOrUndefined(`${head}]}`) === undefined) return noBoundary
    this.head = head
    this.buffer.drop(head.length - 1)
    return new TextEncoder().encode(`},{${beginning}`)
  }

  private parseItems(boundary: Uint8Array): void {
    const { bytes, length } = this.buffer
    const end = lastIndexOf(bytes, boundary, length)
    if (end < 0) return
    bytes[0] = openBracket
    bytes[end + 1] = closeBracket
    const items = parseOrUndefined(decodeText(bytes.subarray(0, end + 2))) as T[] | undefined
    bytes[end + 1] = comma
    if (items === undefined) {
      this.boundary = noBoundary
      return
    }
    this.batches.push(items)
    this.buffer.drop(end + 1)
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new ProtocolError(`the list is not JSON: ${text.slice(0, 100)}`, { cause })
    }
  }
}

const noBoundary = new Uint8Array()

/** Matches the head of the list, and the beginning of the first item up to the first field after apiVersion and kind. */
const firstItemPattern = /^(\{.*?"items":\[)\{((?:"apiVersion":"[^"\\]*",)?(?:"kind":"[^"\\]*",)?"[^"\\]*":)/s

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const asciiPattern = /^[ -~]*$/

function lastIndexOf(bytes: Uint8Array, pattern: Uint8Array, length: number): number {
  let offset = bytes.lastIndexOf(closeBrace, length - pattern.length)
  while (offset >= 0 && !startsAt(bytes, pattern, offset)) offset = offset === 0 ? -1 : bytes.lastIndexOf(closeBrace, offset - 1)
  return offset
}

function startsAt(bytes: Uint8Array, pattern: Uint8Array, offset: number): boolean {
  for (let i = 1; i < pattern.length; i++) if (bytes[offset + i] !== pattern[i]) return false
  return true
}
