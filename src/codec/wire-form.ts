// A form in which the objects of a kind go over the wire. What one object costs is paid in its item; the answer to a GET, the list and the
// frame of a watch are made by putting bytes around it, so that an item that is kept serves all three. Stored JSON is such a form, too: its
// items are what is stored, and are made by copying.

import type { Resource } from '../api/catalog.js'
import type { ResourceDefinition } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import { type ListMeta, listMeta, partialObjectMetadata } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { encodeText } from '../base/encode-text.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { type Promised, whenThere } from '../base/promised.js'
import type { StructNode } from '../schema/node.js'
import { writeAny, writeStoredFields, writeValue } from '../schema/write.js'
import {
  comma,
  type FormWish,
  type ItemSlices,
  type ItemSource,
  type ListForm,
  noSeparator,
  onePiece,
  type Pieces,
  piecesAround,
} from './item-form.js'
import type { Representation } from './negotiation.js'
import {
  type MetadataForm,
  metadataFormOf,
  metadataListNumbers,
  partialMetadataListType,
  partialMetadataType,
  shownMetadata,
} from './partial-metadata.js'
import { encodeListEnds, encodeListItem, type ObjectType, wrapFrame, wrapItem } from './protobuf.js'

export interface WireForm extends ListForm {
  /** The object on its own. */
  object(source: ItemSource): Uint8Array
  /** The object in an event of a watch. */
  frame(type: string, source: ItemSource): Uint8Array
}

interface FormsOfKind {
  /** The whole object, which most requests want. */
  json?: WireForm
  protobuf?: WireForm
  readonly metadata: Map<string, WireForm>
}

const forms = new WeakMap<Resource, FormsOfKind>()

/** The one value for this form of this kind. What is for people, indented or YAML, is made from the JSON that this gives. */
export function wireFormOf(resource: Resource, { format, as }: Representation, identity: Identity): WireForm {
  let known = forms.get(resource)
  if (known === undefined) {
    known = { metadata: new Map() }
    forms.set(resource, known)
  }
  const isBinary = format === 'protobuf'
  if (as === undefined) {
    if (!isBinary) known.json ??= jsonForm(resource, wholeContent(resource), { format: 'json' })
    else known.protobuf ??= protobufForm(resource, wholeContent(resource), { format })
    return (isBinary ? known.protobuf : known.json) as WireForm
  }
  return getOrInsert(known.metadata, `${isBinary} ${as.version} ${identity.name}`, () => {
    const content = metadataContent(metadataFormOf(resource, { identity, version: as.version }))
    return isBinary ? protobufForm(resource, content, { format, as }) : jsonForm(resource, content, { format: 'json', as })
  })
}

const isSeenAsStored = ({ conversion, storedApiVersion }: Resource): boolean =>
  conversion === undefined || conversion.version === storedApiVersion

/** What of an object is shown, and as what. */
interface Content {
  readonly type: ObjectType
  readonly listType: ObjectType
  readonly schema: StructNode
  readonly shown: (object: ApiObject) => ApiObject
  readonly listNumbers: { readonly metadata: number; readonly items: number }
  /** Whether items of a list in JSON say what they are. */
  readonly typedItems: boolean
  readonly isMetadata: boolean
}

const wholeContent = ({ kind, apiVersion, schema, definition }: Resource): Content => ({
  type: { kind, apiVersion },
  listType: { kind: listKindOf(kind, definition), apiVersion },
  schema,
  shown: (object) => object,
  listNumbers: { metadata: 1, items: 2 },
  typedItems: definition.custom !== undefined,
  isMetadata: false,
})

const listKindOf = (kind: string, { kind: own, custom }: ResourceDefinition): string =>
  custom === undefined || kind !== own ? `${kind}List` : custom.listKind

const metadataContent = (form: MetadataForm): Content => ({
  type: partialMetadataType(form),
  listType: partialMetadataListType(form),
  schema: partialObjectMetadata,
  shown: ({ metadata }) => {
    const shown = shownMetadata(form, metadata)
    return shown === undefined ? {} : { metadata: shown }
  },
  listNumbers: metadataListNumbers(form),
  typedItems: true,
  isMetadata: true,
})

function protobufForm(resource: Resource, { type, listType, schema, shown, listNumbers: numbers }: Content, wish: FormWish): WireForm {
  const form: WireForm = {
    resource,
    wish,
    ignoresZeros: true,
    separator: noSeparator,
    item: (object) => encodeListItem(schema, shown(object), numbers),
    object: (source) => joined(wrapItem(type, source.item(form))),
    frame: (eventType, source) => wrapFrame(eventType, type, source.item(form)),
    // In front of a list stands its length, so all of it is looked at first.
    list: (metadata, items) =>
      whenThere(items.measure(Number.POSITIVE_INFINITY), (itemBytes = 0) => {
        const { head, end } = encodeListEnds({ type: listType, metadata, numbers, itemBytes })
        return piecesAround(head, items.next, end)
      }),
  }
  return form
}

const encoder = new TextEncoder()
const objectEnd = encoder.encode('}\n')
const frameEnd = encoder.encode('}}\n')
const listEnd = encoder.encode(']}\n')

const typeJson = ({ kind, apiVersion }: ObjectType): string => `{"kind":"${kind}","apiVersion":"${apiVersion}",`

function jsonForm(resource: Resource, { type, listType, schema, shown, typedItems, isMetadata }: Content, wish: FormWish): WireForm {
  const itemHead = typedItems ? typeJson(type) : '{'
  const head = encoder.encode(typeJson(type))
  const frameHeads = new Map<string, Uint8Array>()
  const frameHeadOf = (eventType: string): Uint8Array =>
    getOrInsert(frameHeads, eventType, () => encoder.encode(`{"type":"${eventType}","object":${typeJson(type)}`))
  const isStored = !isMetadata && resource.fromStored === undefined && isSeenAsStored(resource)
  const around = (source: ItemSource, before: Uint8Array, behind: Uint8Array): Uint8Array =>
    isStored ? source.render(before, behind, resource) : joined([before, source.item(form).subarray(itemHead.length, -1), behind])
  // Lists of custom kinds have no type of their own, either: what is empty is written, too.
  const writeMetadata = (metadata: ListMeta): string =>
    typedItems && !isMetadata ? writeAny({ continue: '', ...metadata }) : writeValue(listMeta, metadata)
  const form: WireForm = {
    resource,
    wish,
    isStored,
    ...(typedItems ? { storedHead: head } : {}),
    ignoresZeros: true,
    separator: comma,
    item: (object) => encodeText(`${itemHead}${writeStoredFields(schema, shown(object))}}`),
    object: (source) => around(source, head, objectEnd),
    frame: (eventType, source) => around(source, frameHeadOf(eventType), frameEnd),
    list: (metadata: ListMeta, items: ItemSlices): Promised<Pieces> =>
      listPieces(`${typeJson(listType)}"metadata":${writeMetadata(metadata)},"items":`, items, isMetadata),
  }
  return form
}

/** A list of metadata alone that has no items has null in their place, as clients of the reference know it. */
function listPieces(front: string, items: ItemSlices, isMetadata: boolean): Promised<Pieces> {
  const whole = (): Pieces => piecesAround(encoder.encode(`${front}[`), items.next, listEnd)
  if (!isMetadata) return whole()
  return whenThere(items.measure(0), (bytes) => (bytes === 0 ? onePiece(encoder.encode(`${front}null}\n`)) : whole()))
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
