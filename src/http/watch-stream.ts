// A watch on the wire: frames written as they come, with back-pressure from the client's socket up to the watcher.

import type { ApiObject } from '../api/object.js'
import { streamMediaTypeOf } from '../codec/negotiation.js'
import { notThatMany, partialMetadata } from '../codec/partial-metadata.js'
import { encodeWatchFrame, type TypedObject } from '../codec/protobuf.js'
import { tableJsonOfObject } from '../codec/table.js'
import { writeValue } from '../schema/write.js'
import type { Watch, WatchSink } from '../verbs/watch.js'
import type { Exchange } from './exchange.js'
import { headsOf, isPlainJson, type ObjectForm, served, tableOf } from './represent.js'
import { flushHead, headersOf, withStreamRoom, writeHead, writeTo } from './respond.js'

type WatchEvent = Parameters<WatchSink['event']>[0]

export interface WatchForm {
  readonly contentType: string
  /** The bytes of an event. */
  readonly frame: (event: WatchEvent) => Buffer
  readonly bookmark: (revision: number) => Buffer
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
    event: (event) => writeTo(exchange, form.frame(event)),
    bookmark: (revision) => writeTo(exchange, form.bookmark(revision)),
    end: (reason) => {
      response.end()
      // Whoever does not read does not see the end, either.
      if (reason === 'too-slow') cutLater(exchange)
    },
  }
  response.on('drain', watch.resume)
  exchange.onLeave(() => watch.close())
  if (!exchange.isGone) watch.start(sink, input.timeoutMs)
}

/** How long a watcher that was let go may take for what is on its way. */
const lastWordsMs = 5_000

function cutLater(exchange: Exchange): void {
  const timer = setTimeout(() => exchange.cut(), lastWordsMs).unref()
  exchange.onLeave(() => clearTimeout(timer))
}

/** How events look to one request. Plain JSON of the stored version is rendered once and shared by all watchers. */
export function watchFormOf(form: ObjectForm): WatchForm {
  const { resource, representation, identity } = form
  const contentType = streamMediaTypeOf(representation.format, identity)
  const write = eventWriter(form)
  const bookmark = (revision: number): Buffer => write('BOOKMARK', { metadata: { resourceVersion: String(revision) } })
  if (isPlainJson(representation) && resource.fromStored === undefined) {
    const prefix = headsOf(resource).object
    return { contentType, bookmark, frame: (event) => event.frame(prefix) }
  }
  return { contentType, bookmark, frame: (event) => write(event.type, served(resource, event.object.decode(resource))) }
}

type EventWriter = (type: string, object: ApiObject) => Buffer

function eventWriter(form: ObjectForm): EventWriter {
  const { as, format } = form.representation
  if (as?.kind === 'Table') return tableWriter(form, as)
  if (as?.kind === 'PartialObjectMetadataList') throw notThatMany(as.kind, form.resource.kind)
  const typed = (object: ApiObject): TypedObject =>
    as === undefined ? typedObject(form, object) : partialMetadata({ identity: form.identity, version: as.version }, object)
  if (format === 'protobuf') return (type, object) => Buffer.from(encodeWatchFrame(type, typed(object)))
  return (type, object) => {
    const { schema, object: value } = typed(object)
    return jsonFrame(type, writeValue(schema, value))
  }
}

function typedObject({ resource }: ObjectForm, object: ApiObject): TypedObject {
  const type = { kind: resource.kind, apiVersion: resource.apiVersion }
  return { type, schema: resource.schema, object: { ...object, ...type } }
}

/** The columns come with the first event only. */
function tableWriter(form: ObjectForm, as: Parameters<typeof tableOf>[1]): EventWriter {
  const table = tableOf(form, as)
  let withoutColumns = false
  return (type, object) => {
    const text = tableJsonOfObject(table, object, { withoutColumns })
    withoutColumns = true
    return jsonFrame(type, text)
  }
}

const jsonFrame = (type: string, object: string): Buffer => Buffer.from(`{"type":"${type}","object":${object}}\n`)
