// How parts of a JSON document lie in the Protobuf messages that OpenAPI documents have: maps are lists of named values there,
// extensions have a place of their own, and what may be one thing or another is wrapped in a message that says which.

import { wireTypes } from '../../base/protobuf-reader.js'
import { collectBytes, writeRaw, writeUint } from '../../base/protobuf-writer.js'
import { booleanField, delimited, integerField, numberField, textField, type ValueWriter } from '../../schema/protobuf-fields.js'
import { tagOf } from '../../schema/protobuf-layout.js'

/** How a value is written as the field with a given number. Everything is written backwards, the last field first. */
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

/** A value of any form, as text that reads as YAML. */
export const anything: Shape = (proto) => {
  const yaml = textField(2)
  return delimited(proto, (writer, value) => yaml(writer, `${JSON.stringify(value)}\n`))
}

/** A message around one field; `inner` says what of the value goes in. */
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

/** A map: a message of named values, which are its field `number`. */
export const named =
  (shape: Shape, number = 1): Shape =>
  (proto) => {
    const entry = namedField(number, shape)
    return delimited(proto, (writer, value) => {
      for (const one of Object.entries(value as Members).reverse()) entry(writer, one)
    })
  }

/** A message that is one of several; `choose` says which number a value goes under. */
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
  /** Under which number the members lie whose names begin with `x-`. */
  readonly extensions?: number
}

/** A message whose fields are members of the value, or one that was encoded before. The table is asked for on first use, so that messages may contain themselves. */
export const message = (table: () => MessageTable): Shape => {
  let compiled: ValueWriter | undefined
  const inside: ValueWriter = (writer, value) => {
    if (value instanceof Uint8Array) return writeRaw(writer, value)
    compiled ??= membersWriter(table())
    compiled(writer, value)
  }
  return (proto) => delimited(proto, inside)
}

/** Encodes insides of messages. The table is read on first use. */
export const encoderOf = (table: () => MessageTable): ((members: Members) => Uint8Array) => {
  let write: ValueWriter | undefined
  return (members) => {
    write ??= membersWriter(table())
    const compiled = write
    return collectBytes((writer) => compiled(writer, members))
  }
}

/** The tag and the length in front of a message that follows, and of the one field around it, if there is one. */
export const messageHead = (number: number, length: number): Uint8Array =>
  collectBytes((writer) => {
    writeUint(writer, length)
    writeUint(writer, tagOf(number, wireTypes.delimited))
  })

/** From so many properties on each is encoded by itself. */
const manyProperties = 50

/**
 * A schema in which whatever has many properties is encoded already, each in a step of its own: one that somebody wrote may be as long as a
 * request.
 */
export function* withEncodedParts(schema: Members, encode: (schema: Members) => Uint8Array): Generator<undefined, Members, void> {
  const made: Record<string, unknown> = {}
  for (const word of ['items', 'additionalProperties', 'not']) {
    const inner = schema[word]
    if (isSchema(inner)) made[word] = yield* withEncodedParts(inner, encode)
  }
  const { properties } = schema
  if (isSchema(properties)) {
    const encoded: Record<string, unknown> = {}
    const isMany = Object.keys(properties).length >= manyProperties
    for (const name in properties) {
      const inner = properties[name]
      const prepared = isSchema(inner) ? yield* withEncodedParts(inner, encode) : inner
      setOwn(encoded, name, isMany && isSchema(prepared) && !('$ref' in prepared) ? encode(prepared) : prepared)
      if (isMany) yield
    }
    made['properties'] = encoded
  }
  return { ...schema, ...made }
}

/** Also where the name is one that objects have from birth. */
const setOwn = (object: object, name: string, value: unknown): void => {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

const isSchema = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

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
  const entry = namedField(number, anything)
  return (writer, value) => {
    const extensions = Object.entries(value as Members).filter(([name]) => name.startsWith('x-'))
    for (const one of extensions.reverse()) entry(writer, one)
  }
}
