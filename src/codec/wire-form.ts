// A form in which the objects of a kind go over the wire, other than the JSON that is stored. What one object costs is paid in `item`;
// the answer to a GET, the list and the frame of a watch are made by putting bytes around it, so that an item that is kept serves all three.

import type { Resource } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import { type ListMeta, listMeta, partialObjectMetadata } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { getOrInsert } from '../base/get-or-insert.js'
import type { StructNode } from '../schema/node.js'
import { writeStoredFields, writeValue } from '../schema/write.js'
import type { ItemForm } from './item-form.js'
import type { Representation } from './negotiation.js'
import { type MetadataForm, metadataListNumbers, partialMetadataListType, partialMetadataType } from './partial-metadata.js'
import { encodeListEnds, encodeListItem, type ObjectType, wrapFrame, wrapItem } from './protobuf.js'

export interface WireForm extends ItemForm {
  /** The object on its own, in pieces. */
  object(item: Uint8Array): readonly Uint8Array[]
  /** The object in an event of a watch. */
  frame(type: string, item: Uint8Array): Uint8Array
  /** The list, in pieces; `items` are any number of items in a row, and may be asked for twice. */
  list(metadata: ListMeta, items: () => Iterable<Uint8Array>): Iterable<Uint8Array>
}

const forms = new WeakMap<Resource, Map<string, WireForm>>()

/** The one value for this form of this kind; undefined where its objects are kept as they go out, or cannot be kept. */
export function wireFormOf(resource: Resource, { format, pretty, as }: Representation, identity: Identity): WireForm | undefined {
  if (pretty || format === 'yaml' || as?.kind === 'Table') return undefined
  if (format === 'json' && as === undefined && resource.fromStored === undefined) return undefined
  const known = forms.get(resource) ?? new Map<string, WireForm>()
  forms.set(resource, known)
  return getOrInsert(known, `${format} ${as?.version ?? ''} ${identity.name}`, () => {
    const content = as === undefined ? wholeContent(resource) : metadataContent({ identity, version: as.version })
    return format === 'protobuf' ? protobufForm(resource, content) : jsonForm(resource, content)
  })
}

/** What of an object is shown, and as what. */
interface Content {
  readonly type: ObjectType
  readonly listType: ObjectType
  readonly schema: StructNode
  readonly shown: (object: ApiObject) => ApiObject
  readonly listNumbers: { readonly metadata: number; readonly items: number }
  /** Whether items of a list in JSON say what they are. */
  readonly typedItems: boolean
}

const wholeContent = ({ kind, apiVersion, schema }: Resource): Content => ({
  type: { kind, apiVersion },
  listType: { kind: `${kind}List`, apiVersion },
  schema,
  shown: (object) => object,
  listNumbers: { metadata: 1, items: 2 },
  typedItems: false,
})

const metadataContent = (form: MetadataForm): Content => ({
  type: partialMetadataType(form),
  listType: partialMetadataListType(form),
  schema: partialObjectMetadata,
  shown: ({ metadata }) => (metadata === undefined ? {} : { metadata }),
  listNumbers: metadataListNumbers(form),
  typedItems: true,
})

function protobufForm(resource: Resource, { type, listType, schema, shown, listNumbers: numbers }: Content): WireForm {
  return {
    resource,
    ignoresZeros: true,
    item: (object) => encodeListItem(schema, shown(object), numbers),
    object: (item) => wrapItem(type, item),
    frame: (eventType, item) => wrapFrame(eventType, type, item),
    list: (metadata, items) => protobufList({ type: listType, metadata, numbers }, items),
  }
}

/** How much of a list is kept while it is measured; what comes after that is asked for again. */
const mostKeptBytes = 4 << 20

/** In front of a list stands its length: so all of it is looked at first, and of a long one only the beginning is kept. */
function* protobufList(
  list: Omit<Parameters<typeof encodeListEnds>[0], 'itemBytes'>,
  items: () => Iterable<Uint8Array>,
): Generator<Uint8Array> {
  const kept: Uint8Array[] = []
  let keptBytes = 0
  let itemBytes = 0
  for (const piece of items()) {
    if (itemBytes < mostKeptBytes) {
      kept.push(piece)
      keptBytes += piece.length
    }
    itemBytes += piece.length
  }
  const { head, end } = encodeListEnds({ ...list, itemBytes })
  yield head
  yield* kept
  if (itemBytes > keptBytes) yield* after(items(), keptBytes)
  yield end
}

/** What comes after so many bytes; the pieces may be cut in other places than before. */
function* after(pieces: Iterable<Uint8Array>, bytes: number): Generator<Uint8Array> {
  let left = bytes
  for (const piece of pieces) {
    if (left < piece.length) yield left === 0 ? piece : piece.subarray(left)
    left = Math.max(0, left - piece.length)
  }
}

const encoder = new TextEncoder()
const frameEnd = encoder.encode('}\n')
const objectEnd = encoder.encode('\n')
const listEnd = encoder.encode(']}\n')

const typeJson = ({ kind, apiVersion }: ObjectType): string => `{"kind":"${kind}","apiVersion":"${apiVersion}",`

/** Items end with a comma. */
function jsonForm(resource: Resource, { type, listType, schema, shown, typedItems }: Content): WireForm {
  const itemHead = typedItems ? typeJson(type) : '{'
  const head = encoder.encode(typeJson(type))
  const headSkip = typedItems ? head.length : 1
  const inside = (item: Uint8Array): Uint8Array => item.subarray(headSkip, -1)
  return {
    resource,
    ignoresZeros: true,
    item: (object) => encoder.encode(`${itemHead}${writeStoredFields(schema, shown(object))}},`),
    object: (item) => [head, inside(item), objectEnd],
    frame: (eventType, item) => joined([encoder.encode(`{"type":"${eventType}","object":`), head, inside(item), frameEnd]),
    *list(metadata, items) {
      yield encoder.encode(`${typeJson(listType)}"metadata":${writeValue(listMeta, metadata)},"items":[`)
      let last: Uint8Array | undefined
      for (const piece of items()) {
        if (last !== undefined) yield last
        last = piece
      }
      if (last !== undefined) yield last.subarray(0, -1) // every item brings a comma, and the last one has no successor
      yield listEnd
    },
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
