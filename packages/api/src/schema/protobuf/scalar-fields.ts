// Protobuf encoders of scalar fields. The writer goes backwards: value, then length, then tag.

import { parseDuration } from '../../base/duration.js'
import { wireTypes } from '../../base/protobuf/protobuf-reader.js'
import {
  type ProtoWriter,
  writeDouble,
  writeInteger,
  writeRaw,
  writeText,
  writeUint,
  writtenBytes,
} from '../../base/protobuf/protobuf-writer.js'
import { decodeBase64 } from '../../base/text/base64.js'
import { jsonText } from '../json/write.js'
import { tagOf } from './layout.js'
import { timestampOf } from './timestamp.js'

export type ValueWriter = (writer: ProtoWriter, value: unknown) => void

function tagged(proto: number, wireType: number, write: ValueWriter): ValueWriter {
  const tag = tagOf(proto, wireType)
  return (writer, value) => {
    write(writer, value)
    writeUint(writer, tag)
  }
}

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
    const raw = decodeBase64(value as string)
    if (typeof raw === 'number') throw new TypeError(`illegal base64 data at input byte ${raw}`)
    writeRaw(writer, raw)
  })

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
  return delimited(proto, (writer, value) => nanoseconds(writer, parseDuration(value as string) ?? 0n))
}

export const quantityField = (proto: number): ValueWriter => delimited(proto, textField(1))

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

export function jsonField(proto: number): ValueWriter {
  const raw = textField(1)
  return delimited(proto, (writer, value) => {
    if (value !== undefined && value !== null) raw(writer, jsonText(value))
  })
}

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
