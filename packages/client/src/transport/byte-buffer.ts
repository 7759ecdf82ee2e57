// Byte buffers with a size limit for chunks of streams and response bodies.

import { ProtocolError } from '../errors.js'

export class ByteBuffer {
  bytes: Uint8Array
  length = 0
  private readonly maxBytes: number

  constructor(maxBytes: number, size = 32 * 1024) {
    this.maxBytes = maxBytes
    this.bytes = new Uint8Array(size)
  }

  /** Keeps at least one unused byte at the end. Throws a RangeError above the limit. */
  append(chunk: Uint8Array): void {
    const needed = this.length + chunk.length + 1
    if (needed > this.maxBytes) throw new RangeError(`more than ${this.maxBytes} bytes`)
    if (needed > this.bytes.length) {
      const larger = new Uint8Array(Math.min(this.maxBytes, Math.max(needed, this.bytes.length * 2)))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    this.bytes.set(chunk, this.length)
    this.length += chunk.length
  }

  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length)
    this.length -= count
  }
}

const maxBodyBytes = 128 * 1024 * 1024
const maxErrorBodyBytes = 1024 * 1024

export class BoundedBody {
  private readonly maxBytes: number
  private first: Uint8Array | undefined
  private joined: ByteBuffer | undefined

  constructor(status: number) {
    this.maxBytes = status < 400 ? maxBodyBytes : maxErrorBodyBytes
  }

  /** Copies the chunk, which the caller may reuse. Throws a ProtocolError above the limit. */
  append(chunk: Uint8Array): void {
    const { first, maxBytes } = this
    const length = (this.joined?.length ?? first?.length ?? 0) + chunk.length
    if (length > maxBytes) throw new ProtocolError(`the response is longer than ${maxBytes} bytes`)
    if (first === undefined) {
      this.first = new Uint8Array(chunk)
      return
    }
    if (this.joined === undefined) {
      this.joined = new ByteBuffer(maxBytes + 1, 2 * length)
      this.joined.append(first)
    }
    this.joined.append(chunk)
  }

  get bytes(): Uint8Array {
    return this.joined?.bytes.subarray(0, this.joined.length) ?? this.first ?? new Uint8Array()
  }
}

/** Created on first use: jsdom has no TextDecoder. */
let decoder: InstanceType<typeof TextDecoder> | undefined

export function decodeText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder()
  return decoder.decode(bytes)
}
