// Protobuf writer for API objects and etcd messages. Writes backwards, so that lengths are known when they are written.

/** The current message is at `at` to `end`; earlier messages follow it in the same slab. */
export interface ProtoWriter {
  bytes: Uint8Array
  at: number
  end: number
}

/** Size of a slab, which small messages share. */
const slabBytes = 32 * 1024

const freshWriter = (): ProtoWriter => ({ bytes: new Uint8Array(slabBytes), at: slabBytes, end: slabBytes })

let idleWriter: ProtoWriter | undefined

/** Returns bytes that no later call overwrites. */
export function collectBytes(write: (writer: ProtoWriter) => void, expectedBytes = 0): Uint8Array {
  const writer = idleWriter ?? freshWriter()
  idleWriter = undefined // nested calls get another writer
  reserve(writer, expectedBytes)
  write(writer)
  const collected = writer.bytes.subarray(writer.at, writer.end)
  writer.end = writer.at
  if (writer.bytes.length === slabBytes) idleWriter = writer
  return collected
}

export const writtenBytes = (writer: ProtoWriter): number => writer.end - writer.at

function reserve(writer: ProtoWriter, count: number): void {
  if (writer.at < count) grow(writer, count)
}

function grow(writer: ProtoWriter, count: number): void {
  const written = writtenBytes(writer)
  const needed = written + count
  const grown = new Uint8Array(Math.max(needed * 2, slabBytes))
  grown.set(writer.bytes.subarray(writer.at, writer.end), grown.length - written)
  writer.bytes = grown
  writer.at = grown.length - written
  writer.end = grown.length
}

/** Up to this length a loop is faster than the native copy. */
const maxLoopBytes = 24

export function writeRaw(writer: ProtoWriter, raw: Uint8Array): void {
  const { length } = raw
  reserve(writer, length)
  writer.at -= length
  if (length > maxLoopBytes) writer.bytes.set(raw, writer.at)
  else for (let i = 0; i < length; i++) writer.bytes[writer.at + i] = raw[i] as number
}

const varint32Bytes = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5

/** Value range: 0 to 2^32 - 1. */
export function writeUint(writer: ProtoWriter, value: number): void {
  reserve(writer, 5)
  if (value < 0x80) {
    writer.bytes[--writer.at] = value
    return
  }
  writer.at -= varint32Bytes(value)
  let at = writer.at
  let rest = value
  for (; rest >= 0x80; rest = rest >>> 7) writer.bytes[at++] = (rest & 0x7f) | 0x80
  writer.bytes[at] = rest
}

/** Negative integers take ten bytes, as the encoding demands. */
export function writeInteger(writer: ProtoWriter, value: number | bigint): void {
  if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) writeUint(writer, value)
  else if (typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER) writeSafeInteger(writer, value)
  else writeUint64(writer, BigInt.asUintN(64, BigInt(value)))
}

function writeSafeInteger(writer: ProtoWriter, value: number): void {
  const high = Math.floor(value / 2 ** 28)
  writeUint(writer, high)
  reserve(writer, 4)
  writer.at -= 4
  for (let i = 0, low = value % 2 ** 28; i < 4; i++, low >>>= 7) writer.bytes[writer.at + i] = (low & 0x7f) | 0x80
}

function writeUint64(writer: ProtoWriter, value: bigint): void {
  const groups: number[] = []
  for (let rest = value; groups.length === 0 || rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn))
  reserve(writer, groups.length)
  writer.at -= groups.length
  for (let i = 0; i < groups.length; i++) writer.bytes[writer.at + i] = (groups[i] as number) | (i < groups.length - 1 ? 0x80 : 0)
}

export function writeDouble(writer: ProtoWriter, value: number): void {
  reserve(writer, 8)
  writer.at -= 8
  new DataView(writer.bytes.buffer, writer.bytes.byteOffset).setFloat64(writer.at, value, true)
}

export function writeFrameLength(writer: ProtoWriter, length: number): void {
  reserve(writer, 4)
  writer.at -= 4
  new DataView(writer.bytes.buffer, writer.bytes.byteOffset).setUint32(writer.at, length)
}

const encoder = new TextEncoder()
/** Up to this length a loop is faster than the TextEncoder. */
const maxLoopChars = 20

export function writeText(writer: ProtoWriter, text: string): void {
  const { length } = text
  reserve(writer, length)
  if (length <= maxLoopChars) {
    const { bytes } = writer
    let at = writer.at
    let i = length - 1
    for (; i >= 0; i--) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) break
      bytes[--at] = code
    }
    if (i < 0) writer.at = at
    else writeNonAsciiText(writer, text)
    return
  }
  const { read } = encoder.encodeInto(text, writer.bytes.subarray(writer.at - length, writer.at))
  if (read === length) writer.at -= length
  else writeNonAsciiText(writer, text)
}

function writeNonAsciiText(writer: ProtoWriter, text: string): void {
  const maxBytes = text.length * 3
  reserve(writer, maxBytes)
  const start = writer.at - maxBytes
  const { written } = encoder.encodeInto(text, writer.bytes.subarray(start, writer.at))
  writer.bytes.copyWithin(writer.at - written, start, start + written)
  writer.at -= written
}
