// The Protobuf reading of schemas, outwards: one writer is compiled per message type. Values that are no pointers are always
// written, zero or not, in the order of field numbers and maps in the order of keys, so that equal objects are equal bytes.

import { wireTypes } from '../base/protobuf-reader.js'
import { collectBytes, type ProtoWriter, writeRaw, writeUint, writtenBytes } from '../base/protobuf-writer.js'
import { sortTexts } from '../base/text-order.js'
import { type AnyNode, type ListNode, type MapNode, resolve, type SchemaNode, type StructNode } from './node.js'
import * as fields from './protobuf-fields.js'
import { isEmbedded, layoutOf, type MessagePart, tagOf } from './protobuf-layout.js'

type ValueWriter = fields.ValueWriter
type Members = { readonly [name: string]: unknown }

const compiled = new WeakMap<StructNode, ValueWriter>()

/** The inside of a struct's message, without its length. */
export function messageWriter(node: StructNode): ValueWriter {
  const known = compiled.get(node)
  if (known !== undefined) return known
  // Registered before recursing, so that a schema may contain itself.
  let write: ValueWriter = (writer, value) => write(writer, value)
  compiled.set(node, (writer, value) => write(writer, value))
  write = partsWriter(layoutOf(node))
  compiled.set(node, write)
  return write
}

/** Backwards, as everything here: the last field first. */
function partsWriter(parts: readonly MessagePart[]): ValueWriter {
  const writers = parts.map(partWriter).reverse()
  return (writer, value) => {
    for (let i = 0; i < writers.length; i++) (writers[i] as ValueWriter)(writer, value)
  }
}

function partWriter(part: MessagePart): ValueWriter {
  if (isEmbedded(part)) return fields.delimited(part.proto, partsWriter(part.parts))
  const { name, field } = part
  const write = fieldWriter(field.node, part.proto)
  const absent = field.pointer ? undefined : zeroWriter(field.node, write)
  return (writer, value) => {
    const member = (value as Members)[name]
    if (member !== undefined && member !== null) write(writer, member)
    else if (absent !== undefined) absent(writer)
  }
}

/** What stands for a plain field that is absent; undefined where nothing does. The bytes are made once. */
function zeroWriter(node: SchemaNode, write: ValueWriter): ((writer: ProtoWriter) => void) | undefined {
  const target = resolve(node)
  if (target.type === 'list' || target.type === 'map' || target.type === 'bytes') return undefined
  let zero: Uint8Array | undefined
  return (writer) => {
    zero ??= collectBytes((fresh) => write(fresh, zeroOf(target)))
    writeRaw(writer, zero)
  }
}

function zeroOf(node: ReturnType<typeof resolve>): unknown {
  switch (node.type) {
    case 'string':
    case 'bytes':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0
    case 'duration':
      return '0s'
    case 'quantity':
      return '0'
    case 'struct':
    case 'map':
      return {}
    case 'list':
      return []
    case 'time':
    case 'any':
      return undefined
  }
}

/** A value with its tag in front, and its length where it has one. */
function fieldWriter(node: SchemaNode, proto: number): ValueWriter {
  switch (node.type) {
    case 'boolean':
      return fields.booleanField(proto)
    case 'integer':
      return fields.integerField(proto)
    case 'number':
      return fields.numberField(proto)
    case 'string':
      return fields.textField(proto)
    case 'bytes':
      return fields.bytesField(proto)
    case 'time':
      return fields.timeField(proto)
    case 'duration':
      return fields.durationField(proto)
    case 'quantity':
      return fields.quantityField(proto)
    case 'intOrString':
      return fields.intOrStringField(proto)
    case 'any':
      return anyWriter(node, proto)
    case 'list':
      return listWriter(node, proto)
    case 'map':
      return mapWriter(node, proto)
    case 'struct':
      return fields.delimited(proto, messageWriter(node))
    case 'lazy':
      return lazyWriter(() => fieldWriter(resolve(node), proto))
  }
}

function lazyWriter(make: () => ValueWriter): ValueWriter {
  let made: ValueWriter | undefined
  return (writer, value) => {
    made ??= make()
    made(writer, value)
  }
}

function listWriter(node: ListNode, proto: number): ValueWriter {
  if (node.protoWrapped) return fields.delimited(proto, listWriter({ ...node, protoWrapped: false }, 1))
  const item = fieldWriter(node.item, proto)
  const zero = zeroOf(resolve(node.item))
  return (writer, value) => {
    const items = value as readonly unknown[]
    for (let i = items.length - 1; i >= 0; i--) item(writer, items[i] ?? zero)
  }
}

function mapWriter(node: MapNode, proto: number): ValueWriter {
  const tag = tagOf(proto, wireTypes.delimited)
  const key = fields.textField(1)
  const item = fieldWriter(node.value, 2)
  const target = resolve(node.value)
  const zero = zeroOf(target)
  const writesNull = target.type !== 'bytes'
  return (writer, value) => {
    const members = value as Members
    const names = Object.keys(members)
    sortTexts(names)
    for (let i = names.length - 1; i >= 0; i--) {
      const name = names[i] as string
      const member = members[name]
      const before = writtenBytes(writer)
      if (member !== null || writesNull) item(writer, member ?? zero)
      key(writer, name)
      writeUint(writer, writtenBytes(writer) - before)
      writeUint(writer, tag)
    }
  }
}

function anyWriter({ form, schema }: AnyNode, proto: number): ValueWriter {
  switch (form) {
    case 'raw':
    case 'json':
    case 'fields':
      return fields.jsonField(proto)
    case 'unknown':
      return fields.unknownField(proto)
    default:
      if (schema === undefined) throw new Error(`a union of JSON schemas (${form}) without its schema`)
      return fields.delimited(proto, form === 'schemaOrBool' ? schemaOrBoolWriter(schema) : schemaOrListWriter(form, schema))
  }
}

function schemaOrBoolWriter(schema: SchemaNode): ValueWriter {
  const allows = fields.booleanField(1)
  const inner = fieldWriter(schema, 2)
  return (writer, value) => {
    const isSchema = typeof value === 'object' && value !== null
    if (isSchema) inner(writer, value)
    allows(writer, isSchema || value === true)
  }
}

function schemaOrListWriter(form: 'schemaOrArray' | 'schemaOrStrings', schema: SchemaNode): ValueWriter {
  const one = fieldWriter(schema, 1)
  const many = listWriter({ type: 'list', item: form === 'schemaOrArray' ? schema : { type: 'string' } }, 2)
  return (writer, value) => {
    if (Array.isArray(value)) many(writer, value)
    else if (value !== undefined && value !== null) one(writer, value)
  }
}
