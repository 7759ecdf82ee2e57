// Protobuf bytes, read from the beginning to the end: numbers, lengths and the skipping of what nobody knows. Never reads beyond
// its bounds, whatever the bytes say. The objects of clients and the messages of etcd are read with it.

/** The wire types in use: how long a value is can be seen without knowing what it is. */
export const wireTypes = { varint: 0, fixed64: 1, delimited: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

/** A place in bytes that belong to the message at hand. */
export interface ProtoReader {
  readonly bytes: Uint8Array
  at: number
  /** Where the message at hand ends. */
  end: number
  depth: number
}

/** At the beginning of a message. */
export const readerOf = (bytes: Uint8Array): ProtoReader => ({ bytes, at: 0, end: bytes.length, depth: 0 })

/** The bytes are no message of this type. */
export class ProtobufReadError extends Error {
  override readonly name = 'ProtobufReadError'
}

export const unexpectedEnd = (): ProtobufReadError => new ProtobufReadError('unexpected EOF')

/** An unsigned integer of up to 64 bits; a bigint only where a number cannot hold it. */
export function readVarint(reader: ProtoReader): number | bigint {
  let value = 0
  for (let factor = 1; factor <= 2 ** 42; factor *= 128) {
    if (reader.at >= reader.end) throw unexpectedEnd()
    const byte = reader.bytes[reader.at++] as number
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
  }
  return readLongVarint(reader, BigInt(value))
}

/** The rest of an integer whose first 49 bits are known. */
function readLongVarint(reader: ProtoReader, known: bigint): bigint {
  let value = known
  for (let shift = 49n; shift < 70n; shift += 7n) {
    if (reader.at >= reader.end) throw unexpectedEnd()
    const byte = reader.bytes[reader.at++] as number
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return BigInt.asUintN(64, value)
  }
  throw new ProtobufReadError('an integer has more than 64 bits')
}

/** A signed integer; a bigint only beyond 2^53. */
export function readInteger(reader: ProtoReader, bits: 32 | 64): number | bigint {
  const value = readVarint(reader)
  if (bits === 32) return typeof value === 'number' && value < 2 ** 31 ? value : Number(BigInt.asIntN(32, BigInt(value)))
  if (typeof value === 'number') return value
  const signed = BigInt.asIntN(64, value)
  return signed >= -maxSafe && signed <= maxSafe ? Number(signed) : signed
}

const maxSafe = BigInt(Number.MAX_SAFE_INTEGER)

export function readDouble(reader: ProtoReader): number {
  if (reader.at + 8 > reader.end) throw unexpectedEnd()
  const { buffer, byteOffset } = reader.bytes
  const value = new DataView(buffer, byteOffset).getFloat64(reader.at, true)
  reader.at += 8
  return value
}

/** A length, which lies inside the message at hand. */
function readLength(reader: ProtoReader): number {
  const length = readVarint(reader)
  if (typeof length === 'bigint' || reader.at + length > reader.end) throw unexpectedEnd()
  return length
}

/** The bytes themselves, not a copy. */
export function readRaw(reader: ProtoReader): Uint8Array {
  const length = readLength(reader)
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** Up to this length a loop is quicker than the call of the native decoder. */
const shortText = 16

export function readText(reader: ProtoReader): string {
  const length = readLength(reader)
  const start = reader.at
  reader.at += length
  if (length > shortText) return decoder.decode(reader.bytes.subarray(start, reader.at))
  let text = ''
  for (let i = start; i < reader.at; i++) {
    const byte = reader.bytes[i] as number
    if (byte >= 0x80) return decoder.decode(reader.bytes.subarray(start, reader.at))
    text += String.fromCharCode(byte)
  }
  return text
}

/** Far deeper than any honest object, and far from the end of the stack. */
const maxDepth = 1000

/** Into a message inside the message; answers where the outer one ends, for {@link leave}. */
export function enter(reader: ProtoReader): number {
  const outerEnd = reader.end
  const length = readLength(reader)
  if (++reader.depth > maxDepth) throw new ProtobufReadError(`messages are nested more than ${maxDepth} deep`)
  reader.end = reader.at + length
  return outerEnd
}

export function leave(reader: ProtoReader, outerEnd: number): void {
  reader.end = outerEnd
  reader.depth--
}

/** Over a field that nobody knows, with all that a group holds. */
export function skipField(reader: ProtoReader, wireType: number): void {
  let openGroups = 0
  for (let type = wireType; ; ) {
    if (type === wireTypes.varint) readVarint(reader)
    else if (type === wireTypes.delimited) readRaw(reader)
    else if (type === wireTypes.fixed64 || type === wireTypes.fixed32) advance(reader, type === wireTypes.fixed64 ? 8 : 4)
    else if (type === wireTypes.groupStart) openGroups++
    else if (type === wireTypes.groupEnd && openGroups > 0) openGroups--
    else throw new ProtobufReadError(`illegal wire type ${type}`)
    if (openGroups === 0) return
    type = Number(readVarint(reader)) & 7
  }
}

function advance(reader: ProtoReader, count: number): void {
  if (reader.at + count > reader.end) throw unexpectedEnd()
  reader.at += count
}
