// Protobuf decoders of API types, compiled per schema. Results equal those of JSON: zero values of non-pointers are dropped.

import {
  enter,
  leave,
  ProtobufReadError,
  type ProtoReader,
  readDouble,
  readInteger,
  readRaw,
  readText,
  readVarint,
  skipField,
  wireTypes,
} from '../../base/protobuf/protobuf-reader.js'
import { encodeBase64 } from '../../base/text/base64.js'
import { keeps, setMember } from '../json/read.js'
import { type Field, type ListNode, type MapNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isEmbedded, layoutOf, type MessagePart } from './layout.js'
import * as messages from './scalar-messages.js'

type Target = Record<string, unknown>

interface SchemaReader extends ProtoReader {
  readonly parseJson: messages.ParseJson
}

type MessageReader = (reader: SchemaReader, target: Target) => void
type FieldReader = (reader: SchemaReader, wireType: number, target: Target) => void

interface ValueReader {
  readonly wireType: number
  /** Returns undefined if the value is absent. */
  readonly read: (reader: SchemaReader, previous: unknown) => unknown
  readonly zero: () => unknown
}

const compiled = new WeakMap<StructNode, MessageReader>()

export function messageReader(node: StructNode): MessageReader {
  const cached = compiled.get(node)
  if (cached !== undefined) return cached
  // Registered before compiling: schemas may be recursive.
  let read: MessageReader = (reader, target) => read(reader, target)
  compiled.set(node, (reader, target) => read(reader, target))
  read = partsReader(layoutOf(node))
  compiled.set(node, read)
  return read
}

function partsReader(parts: readonly MessagePart[]): MessageReader {
  const byNumber: (FieldReader | undefined)[] = []
  for (const part of parts) byNumber[part.proto] = partReader(part)
  return (reader, target) => {
    while (reader.at < reader.end) {
      const tag = Number(readVarint(reader))
      const number = Math.floor(tag / 8)
      const wireType = tag & 7
      const read = byNumber[number]
      if (read !== undefined) read(reader, wireType, target)
      else if (number === 0) throw new ProtobufReadError(`illegal tag 0 (wire type ${wireType})`)
      else skipField(reader, wireType)
    }
  }
}

function partReader(part: MessagePart): FieldReader {
  if (isEmbedded(part)) return embeddedReader(part.proto, partsReader(part.parts))
  const { name, field } = part
  const node = resolve(field.node)
  if (node.type === 'list' && !node.protoWrapped) return listReader(name, node)
  if (node.type === 'map') return mapReader(name, node)
  return singleReader(name, field)
}

function checkWireType(found: number, expected: number, name: string): void {
  if (found !== expected) throw new ProtobufReadError(`wrong wire type ${found} for field ${name}`)
}

function embeddedReader(proto: number, read: MessageReader): FieldReader {
  return (reader, wireType, target) => {
    checkWireType(wireType, wireTypes.delimited, `number ${proto}`)
    const outerEnd = enter(reader)
    read(reader, target)
    leave(reader, outerEnd)
  }
}

function singleReader(name: string, field: Field): FieldReader {
  const { wireType: expected, read } = valueReader(field.node)
  const isKept = keeps(field)
  return (reader, wireType, target) => {
    checkWireType(wireType, expected, name)
    const value = read(reader, target[name])
    if (value !== undefined && isKept(value)) target[name] = value
    else if (name in target) delete target[name] // the last value wins, even if it is zero
  }
}

function listReader(name: string, node: ListNode): FieldReader {
  const item = valueReader(node.item)
  return (reader, wireType, target) => {
    target[name] ??= []
    const items = target[name] as unknown[]
    if (wireType === wireTypes.delimited && item.wireType === wireTypes.varint) readPacked(reader, item, items)
    else {
      checkWireType(wireType, item.wireType, name)
      items.push(item.read(reader, undefined) ?? item.zero())
    }
  }
}

function readPacked(reader: SchemaReader, item: ValueReader, items: unknown[]): void {
  const outerEnd = enter(reader)
  while (reader.at < reader.end) {
    items.push(item.read(reader, undefined))
  }
  leave(reader, outerEnd)
}

const keyTag = 0x0a

function mapReader(name: string, node: MapNode): FieldReader {
  const item = valueReader(node.value)
  return (reader, wireType, target) => {
    checkWireType(wireType, wireTypes.delimited, name)
    target[name] ??= {}
    const outerEnd = enter(reader)
    let key = ''
    let value: unknown
    while (reader.at < reader.end) {
      const tag = Number(readVarint(reader))
      if (tag === keyTag) key = readText(reader)
      else if (tag === 16 + item.wireType) value = item.read(reader, value)
      else skipField(reader, tag & 7)
    }
    setMember(target[name] as Target, key, value ?? item.zero())
    leave(reader, outerEnd)
  }
}

const delimited = (read: ValueReader['read'], zero: () => unknown): ValueReader => ({ wireType: wireTypes.delimited, read, zero })

function valueReader(node: SchemaNode): ValueReader {
  switch (node.type) {
    case 'boolean':
      return { wireType: wireTypes.varint, read: (reader) => Number(readVarint(reader)) !== 0, zero: () => false }
    case 'integer':
      return { wireType: wireTypes.varint, read: (reader) => readInteger(reader, node.bits), zero: () => 0 }
    case 'number':
      return { wireType: wireTypes.fixed64, read: readDouble, zero: () => 0 }
    case 'string':
      return delimited(readText, () => '')
    case 'bytes':
      return delimited(
        (reader) => encodeBase64(readRaw(reader)),
        () => '',
      )
    case 'struct':
      return structReader(node)
    case 'list':
      return wrappedListReader(node)
    case 'map':
      throw new Error('Protobuf has no maps in maps and no lists of maps')
    case 'lazy':
      return lazyReader(() => valueReader(resolve(node)))
    default:
      return viewReader(messages.viewOf(node))
  }
}

function structReader(node: StructNode): ValueReader {
  const readFields = messageReader(node)
  return delimited(
    (reader, previous) => {
      const target = (previous ?? {}) as Target
      const outerEnd = enter(reader)
      readFields(reader, target)
      leave(reader, outerEnd)
      return target
    },
    () => ({}),
  )
}

/** Reads a message that is a scalar in JSON. */
function viewReader({ message, value, zero }: messages.MessageView): ValueReader {
  const { read } = structReader(message)
  return delimited(
    (reader) => value(read(reader, undefined) as Target, reader.parseJson),
    () => zero,
  )
}

function wrappedListReader(node: ListNode): ValueReader {
  if (!node.protoWrapped) throw new Error('Protobuf has no lists in maps and no lists of lists')
  const { read } = structReader(messages.wrapped(node))
  return delimited(
    (reader) => (read(reader, undefined) as Target)['items'],
    () => null,
  )
}

function lazyReader(create: () => ValueReader): ValueReader {
  let created: ValueReader | undefined
  const get = (): ValueReader => {
    created ??= create()
    return created
  }
  return delimited(
    (reader, previous) => get().read(reader, previous),
    () => get().zero(),
  )
}
