// Protobuf encoders of API types, compiled per schema. Fields are in order of numbers and maps in order of keys, so equal objects have
// equal bytes. Absent non-pointers are written as zero, except bytes, lists and maps, as in kube-apiserver.

import { wireTypes } from '../../base/protobuf/protobuf-reader.js'
import { collectBytes, type ProtoWriter, writeRaw, writeUint, writtenBytes } from '../../base/protobuf/protobuf-writer.js'
import { sortTexts } from '../../base/text-order.js'
import { type AnyNode, type ListNode, type MapNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isEmbedded, layoutOf, type MessagePart, tagOf } from './layout.js'
import * as fields from './scalar-fields.js'

type ValueWriter = fields.ValueWriter
type Members = { readonly [name: string]: unknown }

const compiled = new WeakMap<StructNode, ValueWriter>()

export function messageWriter(node: StructNode): ValueWriter {
  const cached = compiled.get(node)
  if (cached !== undefined) return cached
  // Registered before compiling: schemas may be recursive.
  let write: ValueWriter = (writer, value) => write(writer, value)
  compiled.set(node, (writer, value) => write(writer, value))
  write = partsWriter(layoutOf(node))
  compiled.set(node, write)
  return write
}

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
  const writeAbsent = field.pointer ? undefined : absentWriter(field.node, write)
  return (writer, value) => {
    const member = (value as Members)[name]
    if (member !== undefined && member !== null) write(writer, member)
    else if (writeAbsent !== undefined) writeAbsent(writer)
  }
}

function absentWriter(node: SchemaNode, write: ValueWriter): ((writer: ProtoWriter) => void) | undefined {
  const target = resolve(node)
  if (target.type === 'list' || target.type === 'map' || target.type === 'bytes') return undefined
  let zero: Uint8Array | undefined
  return (writer) => {
    zero ??= collectBytes((zeroWriter) => write(zeroWriter, zeroValues[target.type]))
    writeRaw(writer, zero)
  }
}

type ResolvedNode = ReturnType<typeof resolve>

const zeroValues: { readonly [type in ResolvedNode['type']]: unknown } = {
  string: '',
  bytes: '',
  boolean: false,
  integer: 0,
  number: 0,
  intOrString: 0,
  duration: '0s',
  quantity: '0',
  struct: {},
  map: {},
  list: [],
  time: undefined,
  any: undefined,
}

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

function lazyWriter(create: () => ValueWriter): ValueWriter {
  let created: ValueWriter | undefined
  return (writer, value) => {
    created ??= create()
    created(writer, value)
  }
}

function listWriter(node: ListNode, proto: number): ValueWriter {
  if (node.protoWrapped) return fields.delimited(proto, listWriter({ ...node, protoWrapped: false }, 1))
  const item = fieldWriter(node.item, proto)
  const zero = zeroValues[resolve(node.item).type]
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
  const zero = zeroValues[target.type]
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
  const writeSchema = fieldWriter(schema, 1)
  const writeList = listWriter({ type: 'list', item: form === 'schemaOrArray' ? schema : { type: 'string' } }, 2)
  return (writer, value) => {
    if (Array.isArray(value)) writeList(writer, value)
    else if (value !== undefined && value !== null) writeSchema(writer, value)
  }
}
