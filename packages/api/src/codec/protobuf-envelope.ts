// The binary envelope: four magic bytes, the type of an object and its message. Objects, lists and frames of a watch go out in it,
// and bodies come in.

import * as meta from '../api/meta.schema.js'
import { ProtobufReadError, type ProtoReader, readerOf, readRaw, readText, readVarint, skipField } from '../base/protobuf-reader.js'
import { collectBytes, type ProtoWriter, writeFrameLength, writeRaw, writeText, writeUint, writtenBytes } from '../base/protobuf-writer.js'
import { maxJsonDepth } from '../schema/json-parse.js'
import * as s from '../schema/node.js'
import { decodeMessage, writeMessage } from '../schema/protobuf.js'
import { cannotBeHandled, checkType, type DecodedObject, type ExpectedType, unrecognized } from './decode-object.js'
import { parseJson } from './json.js'

export interface ObjectType {
  readonly apiVersion: string
  readonly kind: string
}

/** An object with what is needed to write it. */
export interface TypedObject {
  readonly type: ObjectType
  readonly schema: s.StructNode
  readonly object: unknown
}

export interface Envelope extends ObjectType {
  /** The message of the object; not a copy. */
  readonly raw: Uint8Array
  readonly contentEncoding: string
  readonly contentType: string
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
/** No content encoding, and the usual content type. */
const envelopeEnd = Uint8Array.of(0x1a, 0x00, 0x22, 0x00)

export const isEnvelope = (bytes: Uint8Array): boolean => magic.every((byte, index) => bytes[index] === byte)

/** A field with a length in front of what `write` writes. Everything is written from the end. */
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

/** An object on its own: an answer, a Status. */
export const encodeProtobuf = (typed: TypedObject): Uint8Array => collectBytes((writer) => writeEnvelope(writer, typed))

/** An event of a watch: its length in four bytes, its type, and the envelope of its object. */
function writeFrame(writer: ProtoWriter, eventType: string, writeObject: () => void): void {
  writeField(writer, 0x12, () => writeField(writer, 0x0a, writeObject))
  writeField(writer, 0x0a, () => writeText(writer, eventType))
  writeFrameLength(writer, writtenBytes(writer))
}

/** The envelope around an item of a list, in pieces. Items have a length in front, as messages in envelopes have; only the tag may differ. */
export const wrapItem = (type: ObjectType, item: Uint8Array): readonly Uint8Array[] => [envelopeHead(type), item.subarray(1), envelopeEnd]

/** The same in an event of a watch. */
export const wrapFrame = (eventType: string, type: ObjectType, item: Uint8Array): Uint8Array =>
  collectBytes((writer) =>
    writeFrame(writer, eventType, () => {
      writeRaw(writer, envelopeEnd)
      writeRaw(writer, item.subarray(1))
      writeRaw(writer, envelopeHead(type))
    }),
  )

const envelopeHeads = new WeakMap<ObjectType, Uint8Array>()

/** What stands before the length of a message. */
function envelopeHead(type: ObjectType): Uint8Array {
  const known = envelopeHeads.get(type)
  if (known !== undefined) return known
  const head = collectBytes((writer) => {
    writeUint(writer, 0x12)
    writeHead(writer, type)
  }).slice()
  envelopeHeads.set(type, head)
  return head
}

/** The numbers of the two fields of a list: nearly every kind has these. */
export interface ListNumbers {
  readonly metadata: number
  readonly items: number
}

const usualNumbers: ListNumbers = { metadata: 1, items: 2 }

/** One item of a list, ready to be put into it; it can be kept as long as the object does not change. */
export function encodeListItem(schema: s.StructNode, object: unknown, numbers = usualNumbers): Uint8Array {
  return collectBytes((writer) => writeField(writer, numbers.items * 8 + 2, () => writeMessage(writer, schema, object)))
}

export interface ListToEncode {
  readonly type: ObjectType
  readonly metadata: meta.ListMeta
  /** As {@link encodeListItem} made them. */
  readonly items: readonly Uint8Array[]
  readonly numbers?: ListNumbers
}

/** A list as slices: its head, the items, its end. */
export function encodeProtobufList({ items, ...list }: ListToEncode): readonly Uint8Array[] {
  const { head, end } = encodeListEnds({ ...list, itemBytes: items.reduce((sum, item) => sum + item.length, 0) })
  return [head, ...items, end]
}

/** What stands around the items of a list. A length stands in front of all, so the length of every item must be known. */
export function encodeListEnds({
  type,
  metadata,
  itemBytes,
  numbers = usualNumbers,
}: Omit<ListToEncode, 'items'> & { readonly itemBytes: number }): { readonly head: Uint8Array; readonly end: Uint8Array } {
  const metadataField = encodeListItem(meta.listMeta, metadata, { metadata: 0, items: numbers.metadata })
  const isFirst = numbers.metadata < numbers.items
  const head = collectBytes((writer) => {
    if (isFirst) writeRaw(writer, metadataField)
    writeUint(writer, metadataField.length + itemBytes)
    writeUint(writer, 0x12)
    writeHead(writer, type)
  })
  return { head, end: isFirst ? envelopeEnd : Uint8Array.of(...metadataField, ...envelopeEnd) }
}

/** The schema of a kind's list, for whoever handles lists as objects. */
export const listSchemaOf = (item: s.StructNode): s.StructNode =>
  s.struct(
    `${item.name}List`,
    {
      metadata: s.field(usualNumbers.metadata, meta.listMeta),
      items: s.field(usualNumbers.items, s.list(item), { always: true }),
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

/** JSON inside messages, as carefully as JSON on its own where it could nest too deep or hold an integer beyond 2^53. */
const parseText = (text: string): unknown =>
  text.length < maxJsonDepth && !/\d{16}/.test(text) ? JSON.parse(text) : parseJson(textEncoder.encode(text)).value

/** The object of a message, without its type. Throws {@link ProtobufReadError}. */
export const decodeProtobuf = (schema: s.StructNode, raw: Uint8Array): Record<string, unknown> => decodeMessage(schema, raw, parseText)

/** A request body. Fields that nobody knows are passed over, so there is nothing to report. */
export function decodeProtobufObject(bytes: Uint8Array, expected: ExpectedType): DecodedObject {
  const { apiVersion, kind, raw } = inWords(
    () => readEnvelope(bytes),
    (why) => unrecognized(why, bytes, expected),
  )
  checkType({ apiVersion, kind }, bytes, expected)
  const object = inWords(
    () => decodeProtobuf(expected.schema, raw),
    (why) => cannotBeHandled(expected, why),
  )
  return { object, problems: [] }
}

/** What `read` gives, or the refusal that its error is worth. */
function inWords<T>(read: () => T, refusal: (why: string) => Error): T {
  try {
    return read()
  } catch (thrown) {
    throw thrown instanceof ProtobufReadError ? refusal(thrown.message) : thrown
  }
}
