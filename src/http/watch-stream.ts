// A watch on the wire: frames written as they come, with back-pressure from the client's socket up to the watcher.

import type { ApiObject } from '../api/object.js'
import { streamMediaTypeOf } from '../codec/negotiation.js'
import { notThatMany } from '../codec/partial-metadata.js'
import { tableJsonOfObject } from '../codec/table.js'
import { wireFormOf } from '../codec/wire-form.js'
import { writeValue } from '../schema/write.js'
import type { Watch, WatchSink } from '../verbs/watch.js'
import type { Exchange } from './exchange.js'
import { headsOf, type ObjectForm, served, tableOf } from './represent.js'
import { flushHead, headersOf, writeHead, writeTo } from './respond.js'

type WatchEvent = Parameters<WatchSink['event']>[0]

export interface WatchForm {
  readonly contentType: string
  /** The bytes of an event. */
  readonly frame: (event: WatchEvent) => Uint8Array
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
  const sink: WatchSink = {
    event: (event) => writeTo(exchange, form.frame(event)),
    bookmark: (revision) => writeTo(exchange, form.bookmark(revision)),
    end: () => response.end(),
  }
  response.on('drain', watch.resume)
  exchange.onLeave(() => watch.close())
  if (!response.destroyed) watch.start(sink, input.timeoutMs)
}

/** How events look to one request. What does not depend on the request is made once and shared by all watchers. */
export function watchFormOf(form: ObjectForm): WatchForm {
  const { resource, representation, identity } = form
  const { as, format } = representation
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, resource.kind)
  const contentType = streamMediaTypeOf(format, identity)
  if (as?.kind === 'Table') return { contentType, ...tableFrames(form, as) }
  // A stream is never indented.
  const wire = wireFormOf(resource, { ...representation, pretty: false }, identity)
  if (wire !== undefined) {
    const bookmark = (revision: number): Uint8Array => wire.frame('BOOKMARK', wire.item(markAt(revision)))
    return { contentType, bookmark, frame: (event) => event.frameIn(wire) }
  }
  const { kind, apiVersion, schema } = resource
  const prefix = headsOf(resource).object
  const bookmark = (revision: number): Buffer => jsonFrame('BOOKMARK', writeValue(schema, { kind, apiVersion, ...markAt(revision) }))
  return { contentType, bookmark, frame: (event) => event.frame(prefix) }
}

const markAt = (revision: number): ApiObject => ({ metadata: { resourceVersion: String(revision) } })

/** The columns come with the first event only. */
function tableFrames(form: ObjectForm, as: Parameters<typeof tableOf>[1]): Pick<WatchForm, 'frame' | 'bookmark'> {
  const table = tableOf(form, as)
  let withoutColumns = false
  const write = (type: string, object: ApiObject): Buffer => {
    const text = tableJsonOfObject(table, object, { withoutColumns })
    withoutColumns = true
    return jsonFrame(type, text)
  }
  return {
    frame: (event) => write(event.type, served(form.resource, event.object.decode(form.resource))),
    bookmark: (revision) => write('BOOKMARK', markAt(revision)),
  }
}

const jsonFrame = (type: string, object: string): Buffer => Buffer.from(`{"type":"${type}","object":${object}}\n`)
