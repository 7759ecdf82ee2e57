// Protobuf reader for API objects and etcd messages: varints, lengths and unknown fields, within the bounds of the message.

export const wireTypes = { varint: 0, fixed64: 1, delimited: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

export interface ProtoReader {
  readonly bytes: Uint8Array
  at: number
  end: number
  depth: number
}

export const readerOf = (bytes: Uint8Array): ProtoReader => ({ bytes, at: 0, end: bytes.length, depth: 0 })

export class ProtobufReadError extends Error {
  override readonly name = 'ProtobufReadError'
}

const unexpectedEnd = (): ProtobufReadError => new ProtobufReadError('unexpected EOF')

/** Returns a bigint only from 2^49 on. */
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

function readLongVarint(reader: ProtoReader, lowBits: bigint): bigint {
  let value = lowBits
  for (let shift = 49n; shift < 70n; shift += 7n) {
    if (reader.at >= reader.end) throw unexpectedEnd()
    const byte = reader.bytes[reader.at++] as number
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return BigInt.asUintN(64, value)
  }
  throw new ProtobufReadError('an integer has more than 64 bits')
}

/** Returns a bigint only beyond 2^53. */
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

function readLength(reader: ProtoReader): number {
  const length = readVarint(reader)
  if (typeof length === 'bigint' || reader.at + length > reader.end) throw unexpectedEnd()
  return length
}

export function readRaw(reader: ProtoReader): Uint8Array {
  const length = readLength(reader)
  reader.at += length
  return reader.bytes.subarray(reader.at - length, reader.at)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** Up to this length a loop is faster than the TextDecoder. */
const maxLoopChars = 16

export function readText(reader: ProtoReader): string {
  const length = readLength(reader)
  const start = reader.at
  reader.at += length
  if (length > maxLoopChars) return decoder.decode(reader.bytes.subarray(start, reader.at))
  let text = ''
  for (let i = start; i < reader.at; i++) {
    const byte = reader.bytes[i] as number
    if (byte >= 0x80) return decoder.decode(reader.bytes.subarray(start, reader.at))
    text += String.fromCharCode(byte)
  }
  return text
}

/** Maximum nesting of messages: decoders recurse. */
const maxDepth = 1000

/** Enters a length-delimited message. Returns the end of the outer message, which `leave` restores. */
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
