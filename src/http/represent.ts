// Objects, lists and plain documents in the form that was negotiated. What is stored goes by its wire form (see codec/wire-form), which
// YAML and indented JSON are made from.

import type { Resource } from '../api/catalog.js'
import type { RuleContext } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import type { Query } from '../api/options/query.js'
import { type Promised, whenThere } from '../base/promised.js'
import type { ListForm, Pieces } from '../codec/item-form.js'
import { textPieces, type WriteText, writeLongText } from '../codec/list-text.js'
import { mediaTypeOf, type Representation, type Transform } from '../codec/negotiation.js'
import { metadataFormOf, notThatMany, partialMetadata } from '../codec/partial-metadata.js'
import { encodeProtobuf } from '../codec/protobuf.js'
import { knowsIncludeObject, parseIncludeObject, type TableForm, type TableWish, tableFormOf, tableJsonOfObject } from '../codec/table.js'
import { type RowForm, rowFormOf, tableOfRow } from '../codec/table-rows.js'
import { type WireForm, wireFormOf } from '../codec/wire-form.js'
import type { StructNode } from '../schema/node.js'
import { writeAny, writeStored, writeValue } from '../schema/write.js'
import type { WrittenObject } from '../verbs/engine.js'
import type { ListedPage } from '../verbs/list.js'
import { readyToShow } from '../verbs/versions.js'

export interface Represented {
  readonly contentType: string
  readonly body: Uint8Array
  readonly isObject: true
  /** The object itself, where it is a Status. */
  readonly status?: { readonly [key: string]: unknown } | undefined
}

/** How an answer that is no object of a kind looks. */
export interface Form {
  readonly representation: Representation
  readonly identity: Identity
}

/** How the objects of a kind look to one request. */
export interface ObjectForm extends Form {
  readonly resource: Resource
  readonly rules: RuleContext
  readonly query: Query
}

/** At once, but for kinds that somebody else converts. */
export function representObject(form: ObjectForm, written: WrittenObject): Promised<Represented> {
  const { as } = form.representation
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, form.resource.kind)
  return whenThere(readyToShow(written, form.resource), ({ stored, object }) =>
    stored === undefined ? representUnstored(form, object) : representStored(form, stored),
  )
}

function representStored(form: ObjectForm, stored: NonNullable<WrittenObject['stored']>): Represented {
  const { representation, identity } = form
  const { as, format, pretty } = representation
  if (as?.kind === 'Table') {
    const rows = rowsOf(form, as)
    const { resourceVersion } = stored
    return representText(form, textOf(tableOfRow(rows, { resourceVersion, row: stored.item(rows), now: form.rules.now })))
  }
  const bytes = wireOf(form).object(stored)
  if (format === 'yaml' || pretty) return representText(form, textOf(bytes.subarray(0, -1)))
  return { contentType: mediaTypeOf(format, identity), body: bytes, isObject: true }
}

export const wireOf = ({ resource, representation, identity }: ObjectForm): WireForm => wireFormOf(resource, representation, identity)

/** The JSON text from which YAML and indented JSON are written. */
export const textOfStored = (form: ObjectForm, stored: NonNullable<WrittenObject['stored']>) =>
  whenThere(readyToShow({ stored }, form.resource), () => ({
    contentType: form.representation.format === 'yaml' ? mediaTypeOf('yaml', form.identity) : 'application/json',
    json: textOf(wireOf(form).object(stored).subarray(0, -1)),
  }))

/** What a dry run would have stored is shown as if it had been; what is an answer shows lists that are empty: see schema/write. */
export function representUnstored(form: ObjectForm, object: ApiObject): Represented {
  const { resource, representation } = form
  const { as } = representation
  const shown = resource.fromStored?.(object) ?? object
  if (as?.kind === 'Table') return representText(form, tableJsonOfObject(tableOf(form, as), shown))
  const type = { kind: resource.kind, apiVersion: resource.apiVersion }
  const typed =
    as === undefined
      ? { type, schema: resource.schema, object: { ...shown, ...type } }
      : partialMetadata(metadataFormOf(resource, { ...form, ...as }), shown)
  return representTyped(form, typed, resource.definition.review === undefined ? writeStored : writeValue)
}

const tableWish = (form: ObjectForm, as: Transform): TableWish => ({
  identity: form.identity,
  version: as.version,
  rules: form.rules,
  includeObject: parseIncludeObject(form.query.first('includeObject')),
})

export const tableOf = (form: ObjectForm, as: Transform): TableForm =>
  tableFormOf({ ...form.resource, table: form.resource.definition.table }, tableWish(form, as))

/** The same with rows that can be kept. */
export const rowsOf = (form: ObjectForm, as: Transform): RowForm => rowFormOf(form.resource, tableWish(form, as))

const documentSchemas: { readonly [kind: string]: StructNode } = {
  Status: meta.status,
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIResourceList: meta.apiResourceList,
}

/** A document that is no stored object: Status, discovery, version. What has no Protobuf form goes as JSON. */
export function representDocument(form: Form, document: { readonly [key: string]: unknown }): Represented {
  const represented = representAsDocument(form, document)
  return document['kind'] === 'Status' ? { ...represented, status: document } : represented
}

function representAsDocument(form: Form, document: { readonly [key: string]: unknown }): Represented {
  const schema = documentSchemas[String(document['kind'])]
  if (form.representation.format !== 'protobuf' || schema === undefined) return representText(form, writeAny(document))
  return representTyped(form, {
    type: { kind: String(document['kind']), apiVersion: String(document['apiVersion'] ?? 'v1') },
    schema,
    object: document,
  })
}

/** The answer to a wish, of a kind of its own. */
export const representAnswer = (
  form: Form,
  { type, schema, object }: Parameters<typeof encodeProtobuf>[0] & { readonly object: ApiObject },
): Represented => representTyped(form, { type, schema, object: { ...object, ...type } })

function representTyped(form: Form, typed: Parameters<typeof encodeProtobuf>[0], write = writeValue): Represented {
  if (form.representation.format !== 'protobuf') return representText(form, write(typed.schema, typed.object))
  return { contentType: form.identity.protobufMediaType, body: encodeProtobuf(typed), isObject: true }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

function representText({ representation, identity }: Form, json: string): Represented {
  if (representation.format === 'yaml')
    return {
      contentType: mediaTypeOf('yaml', identity),
      body: Buffer.from(writeLongText({ format: 'yaml', json, areItems: false })),
      isObject: true,
    }
  const body = Buffer.from(representation.pretty ? writeLongText({ format: 'pretty', json, areItems: false }) : `${json}\n`)
  return { contentType: 'application/json', body, isObject: true }
}

/** What was computed is of no version of the store. */
const listMetadata = (page: ListedPage): meta.ListMeta => ({
  ...(page.revision === 0 ? {} : { resourceVersion: String(page.revision) }),
  ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
  ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
})

/** In which form the items of a list are asked for. YAML and indented JSON are made from the plain text. */
export function listFormOf(form: ObjectForm): ListForm | undefined {
  const { as } = form.representation
  // A wish for a table that cannot be met is refused when there is something to show, and not before.
  if (as?.kind === 'Table') return knowsIncludeObject(form.query.first('includeObject')) ? rowsOf(form, as) : undefined
  return wireFormOf(form.resource, form.representation, form.identity)
}

/** A list as chunks. The page must have been read in the representation of {@link listFormOf}. `inWorker` writes long texts. */
export function listPieces(form: ObjectForm, page: ListedPage, inWorker?: WriteText): Promised<Pieces> {
  const { as, format, pretty } = form.representation
  if (as?.kind === 'PartialObjectMetadata') throw notThatMany(as.kind, `${form.resource.kind}List`)
  const shown = as?.kind === 'Table' ? rowsOf(form, as) : wireFormOf(form.resource, form.representation, form.identity)
  const pieces = shown.list(listMetadata(page), page.items, form.rules.now)
  if (format === 'yaml') return whenThere(pieces, (plain) => textPieces(plain, 'yaml', inWorker))
  return pretty ? whenThere(pieces, (plain) => textPieces(plain, 'pretty', inWorker)) : pieces
}
