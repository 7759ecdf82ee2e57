// Maps JSON to the Protobuf messages of OpenAPI: objects become lists of named values, `x-` extensions a field of their own.

import { wireTypes } from '@cluster-apiserver/api/base/protobuf/protobuf-reader.js'
import { collectBytes, writeUint } from '@cluster-apiserver/api/base/protobuf/protobuf-writer.js'
import { jsonText } from '@cluster-apiserver/api/schema/json/write.js'
import { tagOf } from '@cluster-apiserver/api/schema/protobuf/layout.js'
import {
  booleanField,
  delimited,
  integerField,
  numberField,
  textField,
  type ValueWriter,
} from '@cluster-apiserver/api/schema/protobuf/scalar-fields.js'

/** Creates the writer of a field. Messages are written from the last field to the first. */
export type Shape = (proto: number) => ValueWriter
export type Members = { readonly [name: string]: unknown }

export const text: Shape = textField
export const flag: Shape = booleanField
export const double: Shape = numberField
export const integer: Shape = integerField

export const repeated =
  (shape: Shape): Shape =>
  (proto) => {
    const write = shape(proto)
    return (writer, value) => {
      for (const item of (value as readonly unknown[]).toReversed()) write(writer, item)
    }
  }

export const texts = repeated(text)

/** Any value, encoded as YAML text. */
export const anyValue: Shape = (proto) => {
  const yaml = textField(2)
  return delimited(proto, (writer, value) => yaml(writer, `${jsonText(value)}\n`))
}

/** A message with one field; `inner` selects its value. */
export const wrapped =
  (number: number, shape: Shape, inner: (value: unknown) => unknown = (value) => value): Shape =>
  (proto) => {
    const write = shape(number)
    return delimited(proto, (writer, value) => write(writer, inner(value)))
  }

export const namedField = (proto: number, shape: Shape): ValueWriter => {
  const name = textField(1)
  const content = shape(2)
  return delimited(proto, (writer, entry) => {
    const [key, value] = entry as readonly [string, unknown]
    content(writer, value)
    name(writer, key)
  })
}

/** A map: a message whose field `number` repeats named values. */
export const namedValues =
  (shape: Shape, number = 1): Shape =>
  (proto) => {
    const entry = namedField(number, shape)
    return delimited(proto, (writer, value) => {
      for (const one of Object.entries(value as Members).reverse()) entry(writer, one)
    })
  }

/** A oneof message; `choose` returns the field number for a value. */
export const oneOf =
  (shapes: { readonly [number: number]: Shape }, choose: (value: unknown) => number | undefined): Shape =>
  (proto) => {
    const writers = new Map(Object.entries(shapes).map(([number, shape]) => [Number(number), shape(Number(number))]))
    return delimited(proto, (writer, value) => {
      const number = choose(value)
      if (number !== undefined) writers.get(number)?.(writer, value)
    })
  }

export interface MessageTable {
  readonly fields: { readonly [name: string]: readonly [number: number, shape: Shape] }
  readonly extensions?: number
}

/** The table is evaluated on first use, so that messages may be recursive. */
export const message = (table: () => MessageTable): Shape => {
  let compiled: ValueWriter | undefined
  const inside: ValueWriter = (writer, value) => {
    compiled ??= membersWriter(table())
    compiled(writer, value)
  }
  return (proto) => delimited(proto, inside)
}

/** Encodes the fields of a message without its tag and length. */
export const encoderOf = (table: () => MessageTable): ((members: Members) => Uint8Array) => {
  let write: ValueWriter | undefined
  return (members) => {
    write ??= membersWriter(table())
    const compiled = write
    return collectBytes((writer) => compiled(writer, members))
  }
}

/** Tag and length of a message whose bytes follow. */
export const messageHead = (number: number, length: number): Uint8Array =>
  collectBytes((writer) => {
    writeUint(writer, length)
    writeUint(writer, tagOf(number, wireTypes.delimited))
  })

function membersWriter({ fields, extensions }: MessageTable): ValueWriter {
  const writers = Object.entries(fields)
    .map(([name, [number, shape]]) => ({ number, write: memberWriter(name, shape(number)) }))
    .concat(extensions === undefined ? [] : [{ number: extensions, write: extensionsWriter(extensions) }])
    .sort((a, b) => b.number - a.number)
    .map(({ write }) => write)
  return (writer, value) => {
    for (const write of writers) write(writer, value)
  }
}

const memberWriter =
  (name: string, write: ValueWriter): ValueWriter =>
  (writer, value) => {
    const member = (value as Members)[name]
    if (member !== undefined) write(writer, member)
  }

function extensionsWriter(number: number): ValueWriter {
  const entry = namedField(number, anyValue)
  return (writer, value) => {
    const extensions = Object.entries(value as Members).filter(([name]) => name.startsWith('x-'))
    for (const one of extensions.reverse()) entry(writer, one)
  }
}
