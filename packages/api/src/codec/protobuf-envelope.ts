// Protobuf envelope (magic bytes, type, message) of objects, lists, watch events and request bodies.

import * as meta from '../api/meta.schema.js'
import {
  ProtobufReadError,
  type ProtoReader,
  readerOf,
  readRaw,
  readText,
  readVarint,
  skipField,
} from '../base/protobuf/protobuf-reader.js'
import {
  collectBytes,
  type ProtoWriter,
  writeFrameLength,
  writeRaw,
  writeText,
  writeUint,
  writtenBytes,
} from '../base/protobuf/protobuf-writer.js'
import { maxJsonDepth } from '../schema/json/parse-json.js'
import * as s from '../schema/node.js'
import { decodeMessage, writeMessage } from '../schema/protobuf/protobuf.js'
import { parseJson } from './json/json.js'

export interface ObjectType {
  readonly apiVersion: string
  readonly kind: string
}

export interface TypedObject {
  readonly type: ObjectType
  readonly schema: s.StructNode
  readonly object: unknown
}

interface Envelope extends ObjectType {
  readonly raw: Uint8Array
  readonly contentEncoding: string
  readonly contentType: string
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
const envelopeEnd = Uint8Array.of(0x1a, 0x00, 0x22, 0x00)

export const isEnvelope = (bytes: Uint8Array): boolean => magic.every((byte, index) => bytes[index] === byte)

function writeField(writer: ProtoWriter, tag: number, write: () => void): void {
  const before = writtenBytes(writer)
  write()
  writeUint(writer, writtenBytes(writer) - before)
  writeUint(writer, tag)
}

function writeHead(writer: ProtoWriter, { apiVersion, kind }: ObjectType): void {
  writeField(writer, 0x0a, () => {
    writeField(writer, 0x12, () => writeText(writer, kind))
    writeField(writer, 0x0a, () => writeText(writer, apiVersion))
  })
  writeRaw(writer, magic)
}

function writeEnvelope(writer: ProtoWriter, { type, schema, object }: TypedObject): void {
  writeRaw(writer, envelopeEnd)
  writeField(writer, 0x12, () => writeMessage(writer, schema, object))
  writeHead(writer, type)
}

export const encodeProtobuf = (typed: TypedObject): Uint8Array => collectBytes((writer) => writeEnvelope(writer, typed))

/** Watch event: length in four bytes, type, envelope of the object. */
function writeFrame(writer: ProtoWriter, eventType: string, writeObject: () => void): void {
  writeField(writer, 0x12, () => writeField(writer, 0x0a, writeObject))
  writeField(writer, 0x0a, () => writeText(writer, eventType))
  writeFrameLength(writer, writtenBytes(writer))
}

/** List items and envelope messages have the same length prefix; only the tag differs. */
export const wrapItem = (type: ObjectType, item: Uint8Array): readonly Uint8Array[] => [envelopeHead(type), item.subarray(1), envelopeEnd]

export const wrapFrame = (eventType: string, type: ObjectType, item: Uint8Array): Uint8Array =>
  collectBytes((writer) =>
    writeFrame(writer, eventType, () => {
      writeRaw(writer, envelopeEnd)
      writeRaw(writer, item.subarray(1))
      writeRaw(writer, envelopeHead(type))
    }),
  )

const envelopeHeads = new WeakMap<ObjectType, Uint8Array>()

function envelopeHead(type: ObjectType): Uint8Array {
  const cached = envelopeHeads.get(type)
  if (cached !== undefined) return cached
  const head = collectBytes((writer) => {
    writeUint(writer, 0x12)
    writeHead(writer, type)
  }).slice()
  envelopeHeads.set(type, head)
  return head
}

export interface ListFieldNumbers {
  readonly metadata: number
  readonly items: number
}

const defaultListFieldNumbers: ListFieldNumbers = { metadata: 1, items: 2 }

/** Encodes one item, which can be cached until the object changes. */
export function encodeListItem(schema: s.StructNode, object: unknown, numbers = defaultListFieldNumbers): Uint8Array {
  return collectBytes((writer) => writeField(writer, numbers.items * 8 + 2, () => writeMessage(writer, schema, object)))
}

interface ListToEncode {
  readonly type: ObjectType
  readonly metadata: meta.ListMeta
  readonly items: readonly Uint8Array[]
  readonly numbers?: ListFieldNumbers
}

export function encodeProtobufList({ items, ...list }: ListToEncode): readonly Uint8Array[] {
  const { head, end } = encodeListEnds({ ...list, itemBytes: items.reduce((sum, item) => sum + item.length, 0) })
  return [head, ...items, end]
}

/** Head and end of a list. The head has the length of the message, so it needs the size of all items. */
export function encodeListEnds({
  type,
  metadata,
  itemBytes,
  numbers = defaultListFieldNumbers,
}: Omit<ListToEncode, 'items'> & { readonly itemBytes: number }): { readonly head: Uint8Array; readonly end: Uint8Array } {
  const metadataField = encodeListItem(meta.listMeta, metadata, { metadata: 0, items: numbers.metadata })
  const isMetadataFirst = numbers.metadata < numbers.items
  const head = collectBytes((writer) => {
    if (isMetadataFirst) writeRaw(writer, metadataField)
    writeUint(writer, metadataField.length + itemBytes)
    writeUint(writer, 0x12)
    writeHead(writer, type)
  })
  return { head, end: isMetadataFirst ? envelopeEnd : Uint8Array.of(...metadataField, ...envelopeEnd) }
}

export const listSchemaOf = (item: s.StructNode): s.StructNode =>
  s.struct(
    `${item.name}List`,
    {
      metadata: s.field(defaultListFieldNumbers.metadata, meta.listMeta),
      items: s.field(defaultListFieldNumbers.items, s.list(item), { always: true }),
    },
    { typeMeta: true },
  )

/** Throws {@link ProtobufReadError}. */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufReadError('empty data')
  if (!isEnvelope(bytes))
    throw new ProtobufReadError(`provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`)
  if (bytes.length === magic.length) throw new ProtobufReadError('empty body')
  const reader = readerOf(bytes.subarray(magic.length))
  let type: meta.RuntimeTypeMeta = {}
  let raw: Uint8Array = new Uint8Array()
  let contentEncoding = ''
  let contentType = ''
  while (reader.at < reader.end) {
    const tag = Number(readVarint(reader))
    if (tag === 0x0a) type = decodeMessage(meta.runtimeTypeMeta, readRaw(reader), parseText)
    else if (tag === 0x12) raw = readRaw(reader)
    else if (tag === 0x1a) contentEncoding = readText(reader)
    else if (tag === 0x22) contentType = readText(reader)
    else skipUnknown(reader, tag)
  }
  return { apiVersion: type.apiVersion ?? '', kind: type.kind ?? '', raw, contentEncoding, contentType }
}

function skipUnknown(reader: ProtoReader, tag: number): void {
  if (tag >> 3 <= 4) throw new ProtobufReadError(`wrong wire type ${tag & 7} for field number ${tag >> 3} of the envelope`)
  skipField(reader, tag & 7)
}

const textEncoder = new TextEncoder()

/** Parses JSON inside messages. The careful parser handles long texts, which may nest too deep, and integers beyond 2^53. */
const parseText = (text: string): unknown =>
  text.length < maxJsonDepth && !/\d{16}/.test(text) ? JSON.parse(text) : parseJson(textEncoder.encode(text)).value

export const decodeProtobuf = (schema: s.StructNode, raw: Uint8Array): Record<string, unknown> => decodeMessage(schema, raw, parseText)
