// ObjectEncoding: GET responses, lists and watch frames of one kind, built around cached items. Stored JSON is copied.

import type { Resource } from '../api/catalog/resource.js'
import type { ResourceDefinition } from '../api/definition/resource-definition.js'
import type { Identity } from '../api/identity.js'
import { type ListMeta, listMeta, partialObjectMetadata } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { getOrInsert } from '../base/recent-map.js'
import { encodeText } from '../base/text/encode-text.js'
import { writeAny, writeStoredFields, writeValue } from '../schema/json/write.js'
import type { StructNode } from '../schema/node.js'
import type { Representation } from './content-negotiation.js'
import { comma, type EncodedItems, type EncodingChoice, type ItemSource, type ListEncoding, noSeparator } from './item-encoding.js'
import {
  metadataListFieldNumbers,
  type PartialMetadataOptions,
  partialMetadataListType,
  partialMetadataOptionsOf,
  partialMetadataType,
  shownMetadata,
} from './partial-metadata.js'
import { encodeListEnds, encodeListItem, type ObjectType, wrapFrame, wrapItem } from './protobuf-envelope.js'

export interface ObjectEncoding extends ListEncoding {
  object(source: ItemSource): Uint8Array
  frame(type: string, source: ItemSource): Uint8Array
}

interface EncodingsOfKind {
  json?: ObjectEncoding
  protobuf?: ObjectEncoding
  readonly metadata: Map<string, ObjectEncoding>
}

const encodings = new WeakMap<Resource, EncodingsOfKind>()

/** For indented JSON and YAML returns the encoding of compact JSON, from which both are written. */
export function objectEncodingOf(resource: Resource, { format, as }: Representation, identity: Identity): ObjectEncoding {
  let kindEncodings = encodings.get(resource)
  if (kindEncodings === undefined) {
    kindEncodings = { metadata: new Map() }
    encodings.set(resource, kindEncodings)
  }
  const isBinary = format === 'protobuf'
  if (as === undefined) {
    if (!isBinary) kindEncodings.json ??= jsonEncoding(resource, wholeContent(resource), { format: 'json' })
    else kindEncodings.protobuf ??= protobufEncoding(resource, wholeContent(resource), { format })
    return (isBinary ? kindEncodings.protobuf : kindEncodings.json) as ObjectEncoding
  }
  return getOrInsert(kindEncodings.metadata, `${isBinary} ${as.version} ${identity.name}`, () => {
    const content = metadataContent(partialMetadataOptionsOf(resource, { identity, version: as.version }))
    return isBinary ? protobufEncoding(resource, content, { format, as }) : jsonEncoding(resource, content, { format: 'json', as })
  })
}

const isServedAsStored = ({ conversion, storedApiVersion }: Resource): boolean =>
  conversion === undefined || conversion.version === storedApiVersion

interface Content {
  readonly type: ObjectType
  readonly listType: ObjectType
  readonly schema: StructNode
  /** Returns the part of the object that is encoded. */
  readonly encodedPart: (object: ApiObject) => ApiObject
  readonly listFieldNumbers: { readonly metadata: number; readonly items: number }
  /** True if list items have a kind and apiVersion. */
  readonly typedItems: boolean
  readonly isMetadata: boolean
}

const wholeContent = ({ kind, apiVersion, schema, definition }: Resource): Content => ({
  type: { kind, apiVersion },
  listType: { kind: listKindOf(kind, definition), apiVersion },
  schema,
  encodedPart: (object) => object,
  listFieldNumbers: { metadata: 1, items: 2 },
  typedItems: definition.custom !== undefined,
  isMetadata: false,
})

const listKindOf = (kind: string, { kind: definitionKind, custom }: ResourceDefinition): string =>
  custom === undefined || kind !== definitionKind ? `${kind}List` : custom.listKind

const metadataContent = (options: PartialMetadataOptions): Content => ({
  type: partialMetadataType(options),
  listType: partialMetadataListType(options),
  schema: partialObjectMetadata,
  encodedPart: ({ metadata }) => {
    const encodedMetadata = shownMetadata(options, metadata)
    return encodedMetadata === undefined ? {} : { metadata: encodedMetadata }
  },
  listFieldNumbers: metadataListFieldNumbers(options),
  typedItems: true,
  isMetadata: true,
})

function protobufEncoding(
  resource: Resource,
  { type, listType, schema, encodedPart, listFieldNumbers: numbers }: Content,
  choice: EncodingChoice,
): ObjectEncoding {
  const encoding: ObjectEncoding = {
    resource,
    choice,
    ignoresZeros: true,
    separator: noSeparator,
    item: (object) => encodeListItem(schema, encodedPart(object), numbers),
    object: (source) => concatenate(wrapItem(type, source.item(encoding))),
    frame: (eventType, source) => wrapFrame(eventType, type, source.item(encoding)),
    async *list(metadata, items) {
      const itemBytes = (await items.measure(Number.POSITIVE_INFINITY)) ?? 0
      const { head, end } = encodeListEnds({ type: listType, metadata, numbers, itemBytes })
      yield head
      yield* items
      yield end
    },
  }
  return encoding
}

const encoder = new TextEncoder()
const objectEnd = encoder.encode('}\n')
const frameEnd = encoder.encode('}}\n')
const listEnd = encoder.encode(']}\n')

const typeJson = ({ kind, apiVersion }: ObjectType): string => `{"kind":"${kind}","apiVersion":"${apiVersion}",`

function jsonEncoding(
  resource: Resource,
  { type, listType, schema, encodedPart, typedItems, isMetadata }: Content,
  choice: EncodingChoice,
): ObjectEncoding {
  const itemHead = typedItems ? typeJson(type) : '{'
  const head = encoder.encode(typeJson(type))
  const frameHeads = new Map<string, Uint8Array>()
  const frameHeadOf = (eventType: string): Uint8Array =>
    getOrInsert(frameHeads, eventType, () => encoder.encode(`{"type":"${eventType}","object":${typeJson(type)}`))
  const isStored = !isMetadata && resource.fromStored === undefined && isServedAsStored(resource)
  const wrap = (source: ItemSource, start: Uint8Array, end: Uint8Array): Uint8Array =>
    isStored ? source.render(start, end, resource) : concatenate([start, source.item(encoding).subarray(itemHead.length, -1), end])
  // Lists of custom resources also write an empty `continue`.
  const writeMetadata = (metadata: ListMeta): string =>
    typedItems && !isMetadata ? writeAny({ continue: '', ...metadata }) : writeValue(listMeta, metadata)
  const encoding: ObjectEncoding = {
    resource,
    choice,
    isStored,
    ...(typedItems ? { storedHead: head } : {}),
    ignoresZeros: true,
    separator: comma,
    item: (object) => encodeText(`${itemHead}${writeStoredFields(schema, encodedPart(object))}}`),
    object: (source) => wrap(source, head, objectEnd),
    frame: (eventType, source) => wrap(source, frameHeadOf(eventType), frameEnd),
    list: (metadata, items) => jsonList(`${typeJson(listType)}"metadata":${writeMetadata(metadata)},"items":`, items, isMetadata),
  }
  return encoding
}

/** Empty PartialObjectMetadataLists have null items, as in kube-apiserver. */
async function* jsonList(listStart: string, items: EncodedItems, isMetadata: boolean): AsyncGenerator<Uint8Array> {
  if (isMetadata && (await items.measure(0)) === 0) {
    yield encoder.encode(`${listStart}null}\n`)
    return
  }
  yield encoder.encode(`${listStart}[`)
  yield* items
  yield listEnd
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.length
  }
  return joined
}
