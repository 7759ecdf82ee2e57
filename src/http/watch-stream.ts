// A watch on the wire: frames written as they come, with back-pressure from the client's socket up to the watcher.

import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import type { Clock } from '../base/clock.js'
import type { ItemSource } from '../codec/item-form.js'
import { streamMediaTypeOf } from '../codec/negotiation.js'
import { notThatMany } from '../codec/partial-metadata.js'
import { frameKey, tableFrame } from '../codec/table-rows.js'
import { wireFormOf } from '../codec/wire-form.js'
import { writeStoredFields } from '../schema/write.js'
import type { Watch, WatchSink } from '../verbs/watch.js'
import type { Exchange } from './exchange.js'
import { type ObjectForm, rowsOf } from './represent.js'
import { flushHead, headersOf, onRoom, withStreamRoom, writeHead, writeShared, writeTo } from './respond.js'

type EventBatch = Parameters<WatchSink['events']>[0]

export interface WatchForm {
  readonly contentType: string
  /** The bytes of several events. */
  readonly frames: (batch: EventBatch) => Uint8Array
  readonly bookmark: (revision: number) => Uint8Array
}

export function startWatchStream(
  exchange: Exchange,
  input: { readonly watch: Watch; readonly form: WatchForm; readonly timeoutMs: number },
): void {
  const { response } = exchange
  const { watch, form } = input
  writeHead(exchange, 200, headersOf(exchange, form.contentType))
  flushHead(exchange)
  withStreamRoom(exchange)
  const sink: WatchSink = {
    events: (batch) => writeShared(exchange, form.frames(batch)),
    bookmark: (revision) => writeTo(exchange, form.bookmark(revision)),
    end: (reason) => {
      response.end()
      // Whoever does not read does not see the end, either.
      if (reason === 'too-slow') cutLater(exchange)
    },
  }
  onRoom(exchange, watch.resume)
  exchange.onLeave(() => watch.close())
  if (!exchange.isGone) watch.start(sink, input.timeoutMs)
}

/** How long a watcher that was let go may take for what is on its way. */
const lastWordsMs = 5_000

function cutLater(exchange: Exchange): void {
  const timer = setTimeout(() => exchange.cut(), lastWordsMs).unref()
  exchange.onLeave(() => clearTimeout(timer))
}

/** How events look to one request. What does not depend on the request is made once and shared by all watchers. */
export function watchFormOf(form: ObjectForm, clock: Clock): WatchForm {
  const { resource, representation, identity } = form
  const { as, format } = representation
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, resource.kind)
  const contentType = streamMediaTypeOf(format, identity)
  if (as?.kind === 'Table') return { contentType, ...tableFrames(form, as, clock) }
  // A stream is never indented.
  const wire = wireFormOf(resource, representation, identity)
  const bookmark = (revision: number): Uint8Array => wire.frame('BOOKMARK', markSource(resource, revision))
  return { contentType, bookmark, frames: (batch) => batch.frames(wire) }
}

const markAt = (revision: number): ApiObject => ({ metadata: { resourceVersion: String(revision) } })

/** An object of the kind that has nothing but a version. */
const markSource = ({ schema }: Resource, revision: number): ItemSource => ({
  item: (form) => form.item(markAt(revision)),
  render: (head, end) => Buffer.concat([head, Buffer.from(writeStoredFields(schema, markAt(revision))), end]),
})

/** The columns come with the first event only. The row is shared, and the frame by all who want it in the same second. */
function tableFrames(form: ObjectForm, as: Parameters<typeof rowsOf>[1], clock: Clock): Pick<WatchForm, 'frames' | 'bookmark'> {
  const rows = rowsOf(form, as)
  let withoutColumns = false
  const write = (type: string, resourceVersion: string, row: Uint8Array): Uint8Array =>
    tableFrame(rows, { type, resourceVersion, row, now: clock.now(), withoutColumns })
  const once = (frame: Uint8Array): Uint8Array => {
    withoutColumns = true
    return frame
  }
  const frameOf = (event: EventBatch['events'][number]): Uint8Array => {
    const { type, object } = event
    const row = event.once(rows, () => object.item(rows))
    return once(event.once(frameKey(rows, clock.now(), withoutColumns), () => write(type, object.resourceVersion, row)))
  }
  return {
    // Whoever comes later in the same second finds them made.
    frames: (batch) => once(batch.once(frameKey(rows, clock.now(), withoutColumns), frameOf)),
    bookmark: (revision) => once(write('BOOKMARK', String(revision), rows.item(markAt(revision)))),
  }
}
