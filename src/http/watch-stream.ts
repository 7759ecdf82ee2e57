// A watch on the wire: frames written as they come, with back-pressure from the client's socket up to the watcher.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { status } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import type { Promised } from '../base/promised.js'
import type { ItemSource } from '../codec/item-form.js'
import { type Format, streamMediaTypeOf } from '../codec/negotiation.js'
import { notThatMany } from '../codec/partial-metadata.js'
import { encodeListItem, wrapFrame } from '../codec/protobuf.js'
import { frameKey, tableFrame } from '../codec/table-rows.js'
import { wireFormOf } from '../codec/wire-form.js'
import type { WebSocketWish } from '../net/web-socket.js'
import { writeAny, writeStoredFields } from '../schema/write.js'
import type { Engine } from '../verbs/engine.js'
import type { Watch, WatchSink } from '../verbs/watch.js'
import type { Exchange } from './exchange.js'
import { type ObjectForm, rowsOf } from './represent.js'
import { failure } from './status.js'
import { lastWordsMs, WatchConnection } from './watch-connection.js'
import { WebSocketWatch } from './web-socket-watch.js'

type EventBatch = Parameters<WatchSink['events']>[0]

/** Who counts what was sent. */
export interface SentEvents {
  add(events: number, bytes: number): void
}

export interface WatchForm {
  readonly contentType: string
  readonly isText: boolean
  /** The bytes of several events; to be waited for where somebody else converts. */
  readonly frames: (batch: EventBatch) => Promised<Uint8Array>
  readonly bookmark: (revision: number) => Uint8Array
  /** The last that a client hears of a watch that cannot go on. */
  readonly error: (error: ApiError) => Uint8Array
}

export function startWatchStream(
  exchange: Exchange,
  input: {
    readonly watch: Watch
    readonly form: WatchForm
    readonly timeoutMs: number
    readonly roomBytes: number
    readonly sent: SentEvents | undefined
    /** Set where the client wants to hear it so. */
    readonly wish?: WebSocketWish | undefined
  },
): void {
  const { watch, form, roomBytes, sent, wish } = input
  const connection =
    wish === undefined
      ? new WatchConnection(exchange, form.contentType, roomBytes)
      : new WebSocketWatch(exchange, wish, { roomBytes, isText: form.isText })
  exchange.forgetHeaders()
  let isOver = false
  /** Events are being converted: those that follow wait in the watch, as they do for a client that is slow. */
  let isConverting = false
  /** What has begun may still be read, for a while. */
  const finish = (): void => {
    if (connection.isWithinEvent) setTimeout(() => connection.isWithinEvent && connection.end(), lastWordsMs).unref()
    else connection.finish()
  }
  const fail = (thrown: unknown): false => {
    if (isOver) return false
    isOver = true
    watch.close()
    if (!(thrown instanceof ApiError)) exchange.lifecycle.panic(exchange, thrown)
    if (connection.isWithinEvent) exchange.cut()
    else {
      connection.writeWhole(form.error(ApiError.from(thrown)))
      finish()
    }
    return false
  }
  const write = (batch: EventBatch, bytes: Uint8Array): boolean => {
    sent?.add(batch.events.length, bytes.length)
    return connection.write(bytes)
  }
  const writeLater = async (batch: EventBatch, frames: Promise<Uint8Array>): Promise<void> => {
    isConverting = true
    const bytes = await frames
    isConverting = false
    if (!isOver && write(batch, bytes)) watch.resume()
  }
  const sink: WatchSink = {
    events: (batch) => {
      try {
        const frames = form.frames(batch)
        if (!(frames instanceof Promise)) return write(batch, frames)
        writeLater(batch, frames).catch(fail)
        return false
      } catch (thrown) {
        return fail(thrown)
      }
    },
    bookmark: (revision) => connection.writeWhole(form.bookmark(revision)),
    end: (reason) => {
      isOver = true
      // Whoever does not read does not see the end, either.
      if (reason === 'too-slow') connection.end()
      else finish()
    },
    fail,
    unsent: () => connection.unsent(),
  }
  connection.onRoom(() => {
    if (isConverting) return
    const hasRoom = connection.goOn()
    if (isOver) {
      // Its time was up within an event.
      if (!connection.isWithinEvent) connection.finish()
    } else if (hasRoom) watch.resume()
    else watch.moved()
  })
  exchange.onLeave(() => {
    isOver = true
    watch.close()
  })
  if (!exchange.isGone) watch.start(sink, input.timeoutMs)
}

/** Of the engine, as much as watches need. */
type WatchParts = Pick<Engine, 'clock'> & { readonly store: Pick<Engine['store'], 'large'> }

/** How events look to one request. What does not depend on the request is made once and shared by all watchers. */
export function watchFormOf(form: ObjectForm, engine: WatchParts): WatchForm {
  const { resource, representation, identity } = form
  const { as, format } = representation
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, resource.kind)
  const contentType = streamMediaTypeOf(format, identity)
  const isText = format !== 'protobuf'
  const error = (thrown: ApiError): Uint8Array => errorFrame(format, thrown)
  if (as?.kind === 'Table') return { contentType, isText, error, ...tableFrames(form, as, engine) }
  const { large } = engine.store
  // A stream is never indented.
  const wire = wireFormOf(resource, representation, identity)
  const bookmark = (revision: number): Uint8Array => wire.frame('BOOKMARK', markSource(resource, revision))
  const frames = (batch: EventBatch): Promised<Uint8Array> => {
    const waiting = batch.ready(wire, large)
    return waiting === undefined ? batch.frames(wire) : waiting.then(() => batch.frames(wire))
  }
  return { contentType, isText, bookmark, error, frames }
}

const statusType = { kind: 'Status', apiVersion: 'v1' }

function errorFrame(format: Format, error: ApiError): Uint8Array {
  if (format !== 'protobuf') return Buffer.from(`{"type":"ERROR","object":${writeAny(failure(error))}}\n`)
  return wrapFrame('ERROR', statusType, encodeListItem(status, failure(error)))
}

const markAt = (revision: number): ApiObject => ({ metadata: { resourceVersion: String(revision) } })

/** An object of the kind that has nothing but a version. */
const markSource = ({ schema }: Resource, revision: number): ItemSource => ({
  item: (form) => form.item(markAt(revision)),
  render: (head, end) => Buffer.concat([head, Buffer.from(writeStoredFields(schema, markAt(revision))), end]),
})

/** The columns come with the first event only. The row is shared, and the frame by all who want it in the same second. */
function tableFrames(
  form: ObjectForm,
  as: Parameters<typeof rowsOf>[1],
  { clock, store: { large } }: WatchParts,
): Pick<WatchForm, 'frames' | 'bookmark'> {
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
    frames: (batch) => {
      const join = (): Uint8Array => once(batch.once(frameKey(rows, clock.now(), withoutColumns), frameOf))
      const waiting = batch.ready(rows, large)
      return waiting === undefined ? join() : waiting.then(join)
    },
    bookmark: (revision) => once(write('BOOKMARK', String(revision), rows.item(markAt(revision)))),
  }
}
