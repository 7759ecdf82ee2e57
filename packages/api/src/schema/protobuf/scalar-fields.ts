// The scalars of schemas as Protobuf fields, outwards: each writes its value, its length where it has one, and its tag, backwards.

import { wireTypes } from '../base/protobuf-reader.js'
import { type ProtoWriter, writeDouble, writeInteger, writeRaw, writeText, writeUint, writtenBytes } from '../base/protobuf-writer.js'
import { base64ByteLength, decodeBase64 } from './base64.js'
import { tagOf } from './protobuf-layout.js'
import { timestampOf } from './protobuf-time.js'
import { durationNanoseconds } from './scalars.js'
import { writeAny } from './write.js'

/** Writes a value: a whole field with its tag, or the inside of a message. */
export type ValueWriter = (writer: ProtoWriter, value: unknown) => void

function tagged(proto: number, wireType: number, write: ValueWriter): ValueWriter {
  const tag = tagOf(proto, wireType)
  return (writer, value) => {
    write(writer, value)
    writeUint(writer, tag)
  }
}

/** With its length and its tag in front. */
export function delimited(proto: number, write: ValueWriter): ValueWriter {
  const tag = tagOf(proto, wireTypes.delimited)
  return (writer, value) => {
    const before = writtenBytes(writer)
    write(writer, value)
    writeUint(writer, writtenBytes(writer) - before)
    writeUint(writer, tag)
  }
}

export const booleanField = (proto: number): ValueWriter =>
  tagged(proto, wireTypes.varint, (writer, value) => writeUint(writer, value === true ? 1 : 0))

export const integerField = (proto: number): ValueWriter =>
  tagged(proto, wireTypes.varint, (writer, value) => writeInteger(writer, value as number | bigint))

export const numberField = (proto: number): ValueWriter =>
  tagged(proto, wireTypes.fixed64, (writer, value) => writeDouble(writer, Number(value)))

export const textField = (proto: number): ValueWriter => delimited(proto, writeText as ValueWriter)

export const bytesField = (proto: number): ValueWriter =>
  delimited(proto, (writer, value) => {
    const raw = new Uint8Array(base64ByteLength(value as string))
    decodeBase64(value as string, raw)
    writeRaw(writer, raw)
  })

/** A message of seconds and nanoseconds, and an empty one for no time. */
export function timeField(proto: number): ValueWriter {
  const seconds = integerField(1)
  const nanos = integerField(2)
  return delimited(proto, (writer, value) => {
    const timestamp = value === undefined ? undefined : timestampOf(value as string)
    if (timestamp === undefined) return
    nanos(writer, timestamp.nanos)
    seconds(writer, timestamp.seconds)
  })
}

export function durationField(proto: number): ValueWriter {
  const nanoseconds = integerField(1)
  return delimited(proto, (writer, value) => nanoseconds(writer, durationNanoseconds(value as string) ?? 0n))
}

export const quantityField = (proto: number): ValueWriter => delimited(proto, textField(1))

/** A message that has room for both, and says which it is. */
export function intOrStringField(proto: number): ValueWriter {
  const isText = integerField(1)
  const number = integerField(2)
  const text = textField(3)
  return delimited(proto, (writer, value) => {
    const hasText = typeof value === 'string'
    text(writer, hasText ? value : '')
    number(writer, hasText ? 0 : value)
    isText(writer, hasText ? 1 : 0)
  })
}

/** A message with the text of any JSON, and an empty one for null. */
export function jsonField(proto: number): ValueWriter {
  const raw = textField(1)
  return delimited(proto, (writer, value) => {
    if (value !== undefined && value !== null) raw(writer, jsonText(value))
  })
}

/** An envelope around JSON, which says itself what it is. */
export function unknownField(proto: number): ValueWriter {
  const emptyType = delimited(1, (writer) => {
    textField(2)(writer, '')
    textField(1)(writer, '')
  })
  const [raw, contentEncoding, contentType] = [textField(2), textField(3), textField(4)]
  return delimited(proto, (writer, value) => {
    contentType(writer, 'application/json')
    contentEncoding(writer, '')
    if (value !== undefined && value !== null) raw(writer, jsonText(value))
    emptyType(writer, undefined)
  })
}

/** JSON as it came: with none of the escapes that make it safe elsewhere. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return writeAny(value) // which knows integers beyond 2^53
  }
}
