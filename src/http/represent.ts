// Objects, lists and plain documents in the form that was negotiated. JSON comes from stored bytes; every other form decodes, most of
// them once (see codec/wire-form).

import type { Resource } from '../api/catalog.js'
import type { RuleContext } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import type { Query } from '../api/options/query.js'
import { parseWrittenJson } from '../codec/json.js'
import { prettyPieces, yamlPieces } from '../codec/list-text.js'
import { mediaTypeOf, type Representation, type Transform } from '../codec/negotiation.js'
import { notThatMany, partialMetadata } from '../codec/partial-metadata.js'
import { prettyJson } from '../codec/pretty.js'
import { encodeProtobuf } from '../codec/protobuf.js'
import { knowsIncludeObject, parseIncludeObject, type TableForm, type TableWish, tableFormOf, tableJsonOfObject } from '../codec/table.js'
import { type RowForm, rowFormOf, tablePieces } from '../codec/table-rows.js'
import { type WireForm, wireFormOf } from '../codec/wire-form.js'
import { writeYaml } from '../codec/yaml/write-yaml.js'
import type { StructNode } from '../schema/node.js'
import { writeAny, writeValue } from '../schema/write.js'
import type { WrittenObject } from '../verbs/engine.js'
import type { ListedPage } from '../verbs/list.js'

export interface Represented {
  readonly contentType: string
  readonly body: Buffer
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

/** The first bytes of every object of a kind, `{"kind":…,"apiVersion":…,`, and of its lists. */
interface Heads {
  readonly object: Buffer
  readonly list: string
}

const heads = new WeakMap<Resource, Heads>()

export function headsOf(resource: Resource): Heads {
  const known = heads.get(resource)
  if (known !== undefined) return known
  const made = {
    object: Buffer.from(`{"kind":"${resource.kind}","apiVersion":"${resource.apiVersion}",`),
    list: `{"kind":"${resource.kind}List","apiVersion":"${resource.apiVersion}","metadata":`,
  }
  heads.set(resource, made)
  return made
}

const objectEnd = Buffer.from('}\n')

export const isPlainJson = ({ format, pretty, as }: Representation): boolean => format === 'json' && !pretty && as === undefined

/** An object as clients of a version see it. */
export const served = (resource: Resource, object: ApiObject): ApiObject => resource.fromStored?.(object) ?? object

export function representObject(form: ObjectForm, written: WrittenObject): Represented {
  const { resource, representation } = form
  if (isPlainJson(representation) && written.stored !== undefined && resource.fromStored === undefined) {
    return { contentType: 'application/json', body: written.stored.render(headsOf(resource).object, objectEnd) }
  }
  const { as, format } = representation
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, resource.kind)
  const wire = wireFormOf(resource, representation, form.identity)
  if (wire !== undefined && written.stored !== undefined)
    return { contentType: mediaTypeOf(format, form.identity), body: Buffer.concat(wire.object(written.stored.item(wire))) }
  const object = served(resource, written.stored?.decode(resource) ?? (written.object as ApiObject))
  if (as?.kind === 'Table') return representText(form, tableJsonOfObject(tableOf(form, as), object))
  const type = { kind: resource.kind, apiVersion: resource.apiVersion }
  return representTyped(
    form,
    as === undefined ? { type, schema: resource.schema, object: { ...object, ...type } } : partialMetadata({ ...form, ...as }, object),
  )
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
  const schema = documentSchemas[String(document['kind'])]
  if (form.representation.format !== 'protobuf' || schema === undefined) return representText(form, writeAny(document))
  return representTyped(form, {
    type: { kind: String(document['kind']), apiVersion: String(document['apiVersion'] ?? 'v1') },
    schema,
    object: document,
  })
}

function representTyped(form: Form, typed: Parameters<typeof encodeProtobuf>[0]): Represented {
  if (form.representation.format !== 'protobuf') return representText(form, writeValue(typed.schema, typed.object))
  return { contentType: form.identity.protobufMediaType, body: bufferOf(encodeProtobuf(typed)) }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function representText({ representation, identity }: Form, json: string): Represented {
  if (representation.format === 'yaml')
    return { contentType: mediaTypeOf('yaml', identity), body: Buffer.from(writeYaml(parseWrittenJson(json))) }
  return { contentType: 'application/json', body: Buffer.from(representation.pretty ? prettyJson(json) : `${json}\n`) }
}

/** What was computed is of no version of the store. */
const listMetadata = (page: ListedPage): meta.ListMeta => ({
  ...(page.revision === 0 ? {} : { resourceVersion: String(page.revision) }),
  ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
  ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
})

/** A list as a stream of slices: its head, the items, its end. */
function* listSlices(resource: Resource, page: ListedPage): Generator<Uint8Array> {
  yield Buffer.from(`${headsOf(resource).list}${writeValue(meta.listMeta, listMetadata(page))},"items":[`)
  let last: Uint8Array | undefined
  for (const slice of page.slices()) {
    if (last !== undefined) yield last
    last = slice
  }
  if (last !== undefined) yield last.subarray(0, -1) // every item brings a comma, and the last one has no successor
  yield listEnd
}

const listEnd = Buffer.from(']}\n')

/** In which form the items of a list are kept, where that is not as they are stored. YAML and indented JSON are made from the plain text. */
export function listFormOf(form: ObjectForm): RowForm | WireForm | undefined {
  const { as, format } = form.representation
  // A wish for a table that cannot be met is refused when there is something to show, and not before.
  if (as?.kind === 'Table') return knowsIncludeObject(form.query.first('includeObject')) ? rowsOf(form, as) : undefined
  const plain = { format: format === 'yaml' ? 'json' : format, pretty: false } as const
  return wireFormOf(form.resource, as === undefined ? plain : { ...plain, as }, form.identity)
}

/** A list in pieces; the page must have been read in the form that {@link listFormOf} says. */
function listPieces(form: ObjectForm, page: ListedPage): Iterable<Uint8Array> {
  const { as } = form.representation
  if (as?.kind === 'PartialObjectMetadata') throw notThatMany(as.kind, `${form.resource.kind}List`)
  const kept = as?.kind === 'Table' ? rowsOf(form, as) : listFormOf(form)
  if (kept === undefined) return listSlices(form.resource, page)
  const metadata = listMetadata(page)
  return 'table' in kept
    ? tablePieces(kept, { metadata, rows: page.slices(), now: form.rules.now })
    : kept.list(metadata, () => page.slices())
}

/** The same for people to read: what is plain JSON elsewhere, indented or as YAML. */
export function listTextPieces(form: ObjectForm, page: ListedPage): Iterable<Uint8Array> {
  const { format, pretty } = form.representation
  if (format !== 'yaml' && !pretty) return listPieces(form, page)
  const texts = textsOf(listPieces(form, page))
  return buffersOf(format === 'yaml' ? yamlPieces(texts) : prettyPieces(texts))
}

function* textsOf(pieces: Iterable<Uint8Array>): Generator<string> {
  for (const piece of pieces) yield bufferOf(piece).toString('utf8')
}

function* buffersOf(texts: Iterable<string>): Generator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}
