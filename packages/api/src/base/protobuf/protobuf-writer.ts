// Bytes of a Protobuf message, written from the end to the beginning: so a length is known when its turn comes, and no message
// is measured before it is written. The objects of clients and the messages of etcd are written with it.

/** A slab that is filled from its end: what lies from `at` to `end` is the message at hand, what lies behind it are earlier ones. */
export interface ProtoWriter {
  bytes: Uint8Array
  at: number
  end: number
}

/** So much is shared by neighbouring messages: it makes small ones cheap, and a kept one does not keep much else. */
const slabBytes = 32 * 1024

const freshWriter = (): ProtoWriter => ({ bytes: new Uint8Array(slabBytes), at: slabBytes, end: slabBytes })

let idle: ProtoWriter | undefined

/** What `write` writes, as bytes that nobody else writes to. Where it is known to be much, room for it is made at once. */
export function collectBytes(write: (writer: ProtoWriter) => void, expectedBytes = 0): Uint8Array {
  const writer = idle ?? freshWriter()
  idle = undefined // a writer inside a writer gets its own
  reserve(writer, expectedBytes)
  write(writer)
  const collected = writer.bytes.subarray(writer.at, writer.end)
  writer.end = writer.at
  if (writer.bytes.length === slabBytes) idle = writer
  return collected
}

export const writtenBytes = (writer: ProtoWriter): number => writer.end - writer.at

/** Makes room for `count` more bytes; a message that does not fit moves to a slab of its own. */
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

/** Up to this length a loop is quicker than a native copy. */
const shortRaw = 24

export function writeRaw(writer: ProtoWriter, raw: Uint8Array): void {
  const { length } = raw
  reserve(writer, length)
  writer.at -= length
  if (length > shortRaw) writer.bytes.set(raw, writer.at)
  else for (let i = 0; i < length; i++) writer.bytes[writer.at + i] = raw[i] as number
}

const varint32Bytes = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5

/** An integer from 0 to 2^32 - 1: tags, lengths and small numbers. */
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

/** A signed integer; negative ones take ten bytes. */
export function writeInteger(writer: ProtoWriter, value: number | bigint): void {
  if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) writeUint(writer, value)
  else if (typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER) writeSafe(writer, value)
  else writeLong(writer, BigInt.asUintN(64, BigInt(value)))
}

function writeSafe(writer: ProtoWriter, value: number): void {
  const high = Math.floor(value / 2 ** 28)
  writeUint(writer, high)
  reserve(writer, 4)
  writer.at -= 4
  for (let i = 0, low = value % 2 ** 28; i < 4; i++, low >>>= 7) writer.bytes[writer.at + i] = (low & 0x7f) | 0x80
}

function writeLong(writer: ProtoWriter, value: bigint): void {
  const groups: number[] = []
  for (let rest = value; groups.length === 0 || rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn))
  reserve(writer, groups.length)
  writer.at -= groups.length
  for (let i = 0; i < groups.length; i++) writer.bytes[writer.at + i] = (groups[i] as number) | (i < groups.length - 1 ? 0x80 : 0)
}

/** Eight bytes, little end first. */
export function writeDouble(writer: ProtoWriter, value: number): void {
  reserve(writer, 8)
  writer.at -= 8
  new DataView(writer.bytes.buffer, writer.bytes.byteOffset).setFloat64(writer.at, value, true)
}

/** Four bytes, big end first: the length in front of a frame. */
export function writeFrameLength(writer: ProtoWriter, length: number): void {
  reserve(writer, 4)
  writer.at -= 4
  new DataView(writer.bytes.buffer, writer.bytes.byteOffset).setUint32(writer.at, length)
}

const encoder = new TextEncoder()
/** Up to this length a loop is quicker than the call of the native encoder. */
const shortText = 20

/** The UTF-8 of a text, without its length. */
export function writeText(writer: ProtoWriter, text: string): void {
  const { length } = text
  reserve(writer, length)
  if (length <= shortText) {
    const { bytes } = writer
    let at = writer.at
    let i = length - 1
    for (; i >= 0; i--) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) break
      bytes[--at] = code
    }
    if (i < 0) writer.at = at
    else writeWideText(writer, text)
    return
  }
  const { read } = encoder.encodeInto(text, writer.bytes.subarray(writer.at - length, writer.at))
  // A byte for each character, and all of them taken: it is ASCII, and it lies where it belongs.
  if (read === length) writer.at -= length
  else writeWideText(writer, text)
}

function writeWideText(writer: ProtoWriter, text: string): void {
  const most = text.length * 3
  reserve(writer, most)
  const start = writer.at - most
  const { written } = encoder.encodeInto(text, writer.bytes.subarray(start, writer.at))
  writer.bytes.copyWithin(writer.at - written, start, start + written)
  writer.at -= written
}
