// Represents objects, lists and documents in the negotiated format: JSON, YAML, Protobuf, Table or metadata only.

import type { AddLatency, Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { RuleContext } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Query } from '@cluster-apiserver/api/api/options/query.js'
import { isLarge, largeYamlBytes } from '@cluster-apiserver/api/base/large-input.js'
import { mediaTypeOf, type Representation, type Transform } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { ListEncoding } from '@cluster-apiserver/api/codec/item-encoding.js'
import { type ObjectEncoding, objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { listKindMismatch, partialMetadata, partialMetadataOptionsOf } from '@cluster-apiserver/api/codec/partial-metadata.js'
import { type EncodeListText, encodeListText, textChunks } from '@cluster-apiserver/api/codec/pretty-yaml-stream.js'
import { encodeProtobuf } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import {
  isValidIncludeObject,
  parseIncludeObject,
  type TableEncoding,
  type TableOptions,
  tableEncodingOf,
  tableJsonOfObject,
} from '@cluster-apiserver/api/codec/table/table.js'
import { type TableRowEncoding, tableOfRow, tableRowEncodingOf } from '@cluster-apiserver/api/codec/table/table-rows.js'
import { writeAny, writeStored, writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { Engine, WrittenObject } from '../../verbs/engine.js'
import type { ListedPage } from '../../verbs/list.js'
import { prepareResponse } from '../../verbs/version-conversion.js'

export interface Represented {
  readonly contentType: string
  readonly body: Uint8Array
  readonly isObject: true
  readonly status?: { readonly [key: string]: unknown } | undefined
}

export interface ResponseFormat {
  readonly representation: Representation
  readonly identity: Identity
}

export interface ObjectFormat extends ResponseFormat {
  readonly resource: Resource
  readonly rules: RuleContext
  readonly query: Query
  readonly addLatency?: AddLatency | undefined
}

export async function representObject(responseFormat: ObjectFormat, written: WrittenObject): Promise<Represented> {
  const { as } = responseFormat.representation
  if (as?.kind === 'PartialObjectMetadataList') throw listKindMismatch(as.kind, responseFormat.resource.kind)
  const { addLatency } = responseFormat
  if (addLatency === undefined) {
    const prepared = responseFormat.resource.conversion === undefined ? written : await prepareResponse(written, responseFormat.resource)
    return representPrepared(responseFormat, prepared)
  }
  const begunMs = performance.now()
  const prepared = await prepareResponse(written, responseFormat.resource)
  const preparedMs = performance.now()
  addLatency('transform-response-object', preparedMs - begunMs)
  const result = representPrepared(responseFormat, prepared)
  addLatency('serialize-response-object', performance.now() - preparedMs)
  return result
}

const representPrepared = (responseFormat: ObjectFormat, { stored, object }: Awaited<ReturnType<typeof prepareResponse>>): Represented =>
  stored === undefined ? representUnstored(responseFormat, object) : representStored(responseFormat, stored)

function representStored(responseFormat: ObjectFormat, stored: NonNullable<WrittenObject['stored']>): Represented {
  const { representation, identity } = responseFormat
  const { as, format, pretty } = representation
  if (as?.kind === 'Table') {
    const rows = rowsOf(responseFormat, as)
    const { resourceVersion } = stored
    return representText(
      responseFormat,
      textOf(tableOfRow(rows, { resourceVersion, row: stored.item(rows), now: responseFormat.rules.now })),
    )
  }
  const bytes = wireOf(responseFormat).object(stored)
  if (format === 'yaml' || pretty) return representText(responseFormat, textOf(bytes.subarray(0, -1)))
  return { contentType: mediaTypeOf(format, identity), body: bytes, isObject: true }
}

const wireOf = ({ resource, representation, identity }: ObjectFormat): ObjectEncoding =>
  objectEncodingOf(resource, representation, identity)

/** Represents an object that is not stored. The result of a dry run looks like a stored object; only a review shows empty lists. */
export function representUnstored(responseFormat: ObjectFormat, object: ApiObject): Represented {
  const { resource, representation } = responseFormat
  const { as } = representation
  const converted = resource.fromStored?.(object) ?? object
  if (as?.kind === 'Table') return representText(responseFormat, tableJsonOfObject(tableOf(responseFormat, as), converted))
  const type = { kind: resource.kind, apiVersion: resource.apiVersion }
  const typed =
    as === undefined
      ? { type, schema: resource.schema, object: { ...converted, ...type } }
      : partialMetadata(partialMetadataOptionsOf(resource, { ...responseFormat, ...as }), converted)
  return representTyped(responseFormat, typed, resource.definition.review === undefined ? writeStored : writeValue)
}

const tableOptions = (responseFormat: ObjectFormat, as: Transform): TableOptions => ({
  identity: responseFormat.identity,
  version: as.version,
  rules: responseFormat.rules,
  includeObject: parseIncludeObject(responseFormat.query.first('includeObject')),
})

const tableOf = (responseFormat: ObjectFormat, as: Transform): TableEncoding =>
  tableEncodingOf({ ...responseFormat.resource, table: responseFormat.resource.definition.table }, tableOptions(responseFormat, as))

export const rowsOf = (responseFormat: ObjectFormat, as: Transform): TableRowEncoding =>
  tableRowEncodingOf(responseFormat.resource, tableOptions(responseFormat, as))

const documentSchemas: { readonly [kind: string]: StructNode } = {
  Status: meta.status,
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIResourceList: meta.apiResourceList,
}

/** Represents a Status or discovery document; as JSON if it has no Protobuf schema. */
export function representDocument(responseFormat: ResponseFormat, document: { readonly [key: string]: unknown }): Represented {
  const represented = representAsDocument(responseFormat, document)
  return document['kind'] === 'Status' ? { ...represented, status: document } : represented
}

function representAsDocument(responseFormat: ResponseFormat, document: { readonly [key: string]: unknown }): Represented {
  const schema = documentSchemas[String(document['kind'])]
  if (responseFormat.representation.format !== 'protobuf' || schema === undefined) return representText(responseFormat, writeAny(document))
  return representTyped(responseFormat, {
    type: { kind: String(document['kind']), apiVersion: String(document['apiVersion'] ?? 'v1') },
    schema,
    object: document,
  })
}

export const representActionResult = (
  responseFormat: ResponseFormat,
  { type, schema, object }: Parameters<typeof encodeProtobuf>[0] & { readonly object: ApiObject },
): Represented => representTyped(responseFormat, { type, schema, object: { ...object, ...type } })

function representTyped(responseFormat: ResponseFormat, typed: Parameters<typeof encodeProtobuf>[0], write = writeValue): Represented {
  if (responseFormat.representation.format !== 'protobuf') return representText(responseFormat, write(typed.schema, typed.object))
  return { contentType: responseFormat.identity.protobufMediaType, body: encodeProtobuf(typed), isObject: true }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

function representText({ representation, identity }: ResponseFormat, json: string): Represented {
  if (representation.format === 'yaml')
    return {
      contentType: mediaTypeOf('yaml', identity),
      body: Buffer.from(encodeListText({ format: 'yaml', json, areItems: false })),
      isObject: true,
    }
  const body = Buffer.from(representation.pretty ? encodeListText({ format: 'pretty', json, areItems: false }) : `${json}\n`)
  return { contentType: 'application/json', body, isObject: true }
}

/** Revision 0: a computed list, which has no resourceVersion. */
const listMetadata = (page: ListedPage): meta.ListMeta => ({
  ...(page.revision === 0 ? {} : { resourceVersion: String(page.revision) }),
  ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
  ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
})

/** The encoding in which a list is read from the store; YAML and indented JSON are converted from it. */
export function listEncodingOf(responseFormat: ObjectFormat): ListEncoding | undefined {
  const { as } = responseFormat.representation
  // An invalid `includeObject` is refused only if there are items, as in kube-apiserver.
  if (as?.kind === 'Table')
    return isValidIncludeObject(responseFormat.query.first('includeObject')) ? rowsOf(responseFormat, as) : undefined
  return objectEncodingOf(responseFormat.resource, responseFormat.representation, responseFormat.identity)
}

/** The page must have been read with {@link listEncodingOf}. `inWorker` converts long texts. */
export function listChunks(responseFormat: ObjectFormat, page: ListedPage, inWorker?: EncodeListText): AsyncIterable<Uint8Array> {
  const { as, format, pretty } = responseFormat.representation
  if (as?.kind === 'PartialObjectMetadata') throw listKindMismatch(as.kind, `${responseFormat.resource.kind}List`)
  const encoding =
    as?.kind === 'Table'
      ? rowsOf(responseFormat, as)
      : objectEncodingOf(responseFormat.resource, responseFormat.representation, responseFormat.identity)
  const chunks = encoding.list(listMetadata(page), page.items, responseFormat.rules.now)
  if (format === 'yaml') return textChunks(chunks, 'yaml', inWorker)
  return pretty ? textChunks(chunks, 'pretty', inWorker) : chunks
}

/** Steps on large objects, run in a worker thread. */
export interface RepresentationSteps {
  /** Encodes an object that is not stored, such as the result of a dry run. */
  represent(call: Call, responseFormat: ObjectFormat, object: ApiObject): Promise<Represented>
  writeTextFor(call: Call): EncodeListText
}

/** Represents an object in a worker thread if it is large: `call` has the size of the body and of the stored entry. */
export async function representLargeInWorker(
  { engine, steps }: { readonly engine: Engine; readonly steps?: RepresentationSteps | undefined },
  call: Call,
  responseFormat: ObjectFormat,
  written: WrittenObject,
): Promise<Represented> {
  const { stored } = written
  const { as, format, pretty } = responseFormat.representation
  const isSmall = stored === undefined ? !call.isLarge : !isLarge(stored.entry.value, largeYamlBytes)
  // representObject refuses PartialObjectMetadataList for one object.
  if (steps === undefined || isSmall || as?.kind === 'PartialObjectMetadataList') return representObject(responseFormat, written)
  if (stored === undefined) {
    const { object = {} } = await prepareResponse(written, responseFormat.resource)
    return steps.represent(call, responseFormat, object)
  }
  await engine.store.largeItems.prepare(stored, as?.kind === 'Table' ? rowsOf(responseFormat, as) : wireOf(responseFormat))
  if ((format !== 'yaml' && !pretty) || as?.kind === 'Table') return representObject(responseFormat, written)
  await prepareResponse(written, responseFormat.resource)
  const json = textOf(wireOf(responseFormat).object(stored).subarray(0, -1))
  return {
    contentType: format === 'yaml' ? mediaTypeOf('yaml', responseFormat.identity) : 'application/json',
    body: await steps.writeTextFor(call)({ format: format === 'yaml' ? 'yaml' : 'pretty', json, areItems: false }),
    isObject: true,
  }
}
