// The encoding of a watch stream: event frames, bookmarks and the final error, as JSON, Protobuf or rows of a Table.

import type { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { status } from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { type Format, streamMediaTypeOf } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { ItemSource } from '@cluster-apiserver/api/codec/item-encoding.js'
import { objectEncodingOf } from '@cluster-apiserver/api/codec/object-encoding.js'
import { encodeListItem, wrapFrame } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { frameKey, tableFrame } from '@cluster-apiserver/api/codec/table/table-rows.js'
import { writeAny, writeStoredFields } from '@cluster-apiserver/api/schema/json/write.js'
import type { Engine } from '../../verbs/engine.js'
import type { WatchSink } from '../../verbs/watch.js'
import { type ObjectFormat, rowsOf } from '../responses/representation.js'
import { failure } from '../responses/status.js'

type EventBatch = Parameters<WatchSink['events']>[0]

export interface WatchEncoding {
  readonly contentType: string
  readonly isText: boolean
  /** Resolves when `frames` may be called: after a conversion webhook or a worker thread. Undefined: at once. */
  readonly ready: (batch: EventBatch) => Promise<void> | undefined
  readonly frames: (batch: EventBatch) => Uint8Array
  readonly bookmark: (revision: number) => Uint8Array
  /** The last event of a failed watch. */
  readonly error: (error: ApiError) => Uint8Array
}

type WatchEngine = Pick<Engine, 'clock'> & { readonly store: Pick<Engine['store'], 'largeItems'> }

/** Encoded frames are shared by all watchers with the same encoding. */
export function watchEncodingOf(responseFormat: ObjectFormat, engine: WatchEngine): WatchEncoding {
  const { resource, identity } = responseFormat
  const representation = eventRepresentation(responseFormat.representation)
  const { as, format } = representation
  const contentType = streamMediaTypeOf(format, identity)
  const isText = format !== 'protobuf'
  const error = (thrown: ApiError): Uint8Array => errorFrame(format, thrown)
  if (as?.kind === 'Table') return { contentType, isText, error, ...tableFrames(responseFormat, as, engine) }
  const { largeItems } = engine.store
  // Streams are never indented.
  const encoding = objectEncodingOf(resource, representation, identity)
  const bookmark = (revision: number): Uint8Array => encoding.frame('BOOKMARK', bookmarkSource(resource, revision))
  return {
    contentType,
    isText,
    bookmark,
    error,
    ready: (batch) => batch.prepare(encoding, largeItems),
    frames: (batch) => batch.frames(encoding),
  }
}

/** A client that accepts a list of metadata gets the metadata of each object. */
const eventRepresentation = (representation: ObjectFormat['representation']): ObjectFormat['representation'] =>
  representation.as?.kind === 'PartialObjectMetadataList'
    ? { ...representation, as: { ...representation.as, kind: 'PartialObjectMetadata' } }
    : representation

const statusType = { kind: 'Status', apiVersion: 'v1' }

function errorFrame(format: Format, error: ApiError): Uint8Array {
  if (format !== 'protobuf') return Buffer.from(`{"type":"ERROR","object":${writeAny(failure(error))}}\n`)
  return wrapFrame('ERROR', statusType, encodeListItem(status, failure(error)))
}

const bookmarkAt = (revision: number): ApiObject => ({ metadata: { resourceVersion: String(revision) } })

const bookmarkSource = ({ schema }: Resource, revision: number): ItemSource => ({
  item: (encoding) => encoding.item(bookmarkAt(revision)),
  render: (head, end) => Buffer.concat([head, Buffer.from(writeStoredFields(schema, bookmarkAt(revision))), end]),
})

/** Only the first event has the column definitions. Frames are shared by watchers for one second, because rows show ages. */
function tableFrames(
  responseFormat: ObjectFormat,
  as: Parameters<typeof rowsOf>[1],
  { clock, store: { largeItems } }: WatchEngine,
): Pick<WatchEncoding, 'ready' | 'frames' | 'bookmark'> {
  const rows = rowsOf(responseFormat, as)
  let withoutColumns = false
  const write = (type: string, resourceVersion: string, row: Uint8Array): Uint8Array =>
    tableFrame(rows, { type, resourceVersion, row, now: clock.now(), withoutColumns })
  const markColumnsSent = (frame: Uint8Array): Uint8Array => {
    withoutColumns = true
    return frame
  }
  const frameOf = (event: EventBatch['events'][number]): Uint8Array => {
    const { type, object } = event
    const row = event.getOrEncode(rows, () => object.item(rows))
    return markColumnsSent(event.getOrEncode(frameKey(rows, clock.now(), withoutColumns), () => write(type, object.resourceVersion, row)))
  }
  return {
    ready: (batch) => batch.prepare(rows, largeItems),
    frames: (batch) => markColumnsSent(batch.getOrEncode(frameKey(rows, clock.now(), withoutColumns), frameOf)),
    bookmark: (revision) => markColumnsSent(write('BOOKMARK', String(revision), rows.item(bookmarkAt(revision)))),
  }
}
