// The few parts of the Protobuf encoding that etcd's messages consist of: varints, bytes, and messages in messages.
//
// Messages are written from their end to their beginning: the length that stands before a nested message is then known when it is its
// turn, and a transaction of a hundred values is written once, into one buffer. So the last field of a message is written first.

export interface MessageWriter {
  /** How much is written so far; a mark for `message`. */
  readonly length: number
  number(field: number, value: number | bigint): void
  text(field: number, value: string): void
  /** The parts, one after the other, as one field. */
  bytes(field: number, ...parts: readonly Uint8Array[]): void
  /** Makes what was written since the mark one nested message. */
  message(field: number, mark: number): void
  finish(): Buffer
}

export function createMessageWriter(capacity = 256): MessageWriter {
  let buffer = Buffer.allocUnsafeSlow(capacity)
  let start = capacity

  const take = (bytes: number): number => {
    if (start < bytes) {
      const written = buffer.length - start
      const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, written + bytes))
      buffer.copy(larger, larger.length - written, start)
      buffer = larger
      start = larger.length - written
    }
    start -= bytes
    return start
  }
  const varint = (value: number): void => {
    let at = take(varintBytes(value))
    for (; value > 127; value = Math.floor(value / 128)) buffer[at++] = (value % 128) | 128
    buffer[at] = value
  }
  const bigVarint = (value: bigint): void => {
    const groups: number[] = []
    for (let rest = BigInt.asUintN(64, value); rest > 0n || groups.length === 0; rest >>= 7n) groups.push(Number(rest & 127n))
    const at = take(groups.length)
    for (const [index, group] of groups.entries()) buffer[at + index] = group | (index < groups.length - 1 ? 128 : 0)
  }
  const prefix = (field: number, bytes: number): void => {
    varint(bytes)
    varint((field << 3) | lengthDelimited)
  }

  return {
    get length() {
      return buffer.length - start
    },
    number(field, value) {
      if (typeof value === 'bigint') bigVarint(value)
      else varint(value)
      varint(field << 3)
    },
    text(field, value) {
      const bytes = Buffer.byteLength(value)
      const at = take(bytes)
      buffer.write(value, at)
      prefix(field, bytes)
    },
    bytes(field, ...parts) {
      let bytes = 0
      for (const part of parts) bytes += part.length
      let at = take(bytes)
      for (const part of parts) {
        buffer.set(part, at)
        at += part.length
      }
      prefix(field, bytes)
    },
    message(field, mark) {
      prefix(field, buffer.length - start - mark)
    },
    finish: () => buffer.subarray(start),
  }
}

const lengthDelimited = 2

function varintBytes(value: number): number {
  let bytes = 1
  for (; value > 127; value = Math.floor(value / 128)) bytes += 1
  return bytes
}

/** Goes through the fields of one message; after `next` the value of the field must be read or skipped. */
export interface MessageReader {
  /** The number of the next field; 0 at the end. */
  next(): number
  number(): number
  big(): bigint
  /** A view, not a copy. */
  bytes(): Buffer
  message(): MessageReader
  skip(): void
}

export function createMessageReader(buffer: Buffer): MessageReader {
  let at = 0
  let wireType = 0

  const byte = (): number => {
    const value = buffer[at++]
    if (value === undefined) throw new RangeError('a message of etcd ends in the middle')
    return value
  }
  const number = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const next = byte()
      value += (next & 127) * scale
      if (next < 128) return value
    }
  }
  const bytes = (): Buffer => {
    const end = number() + at
    if (end > buffer.length) throw new RangeError('a message of etcd ends in the middle')
    const found = buffer.subarray(at, end)
    at = end
    return found
  }

  return {
    next() {
      if (at >= buffer.length) return 0
      const tag = number()
      wireType = tag & 7
      return tag >>> 3
    },
    number,
    big() {
      let value = 0n
      for (let shift = 0n; ; shift += 7n) {
        const next = byte()
        value |= BigInt(next & 127) << shift
        if (next < 128) return value
      }
    },
    bytes,
    message: () => createMessageReader(bytes()),
    skip() {
      if (wireType === 0) while (byte() > 127);
      else if (wireType === lengthDelimited) bytes()
      else if (wireType === 1 || wireType === 5) at += wireType === 1 ? 8 : 4
      else throw new RangeError(`a message of etcd has a field of unknown form ${wireType}`)
    },
  }
}
