// GET on resources: one object, a list, or a watch.

import { badRequest } from '../api/api-error.js'
import { oneName } from '../api/field-selector.js'
import { parseGetOptions } from '../api/options/get-options.js'
import { parseListOptions, parseWatchOptions, type WatchOptions } from '../api/options/list-options.js'
import { allFormats, checkStream, mediaTypeOf } from '../codec/negotiation.js'
import { getComputed, isComputed, listComputed } from '../verbs/computed.js'
import { get } from '../verbs/get.js'
import { type ListedPage, list } from '../verbs/list.js'
import { Watch } from '../verbs/watch.js'
import type { Answered } from './pipeline.js'
import { listFormOf, listTextPieces, type ObjectForm, representObject } from './represent.js'
import { send, sendPieces, sendStream } from './respond.js'
import { callOf, formOf, listContext, type Target } from './target.js'
import { startWatchStream, watchFormOf } from './watch-stream.js'

export function serveGet(target: Target): Answered | Promise<Answered> {
  const form = formOf(target)
  if (isComputed(target.resource)) return serveComputed(target, form)
  const stored = get(target.server.engine, callOf(target), parseGetOptions(target.query))
  const answer = (found: Awaited<typeof stored>): Answered => {
    send(target.exchange, { code: 200, ...representObject(form, { stored: found }) })
    return true
  }
  return stored instanceof Promise ? stored.then(answer) : answer(stored)
}

async function serveComputed(target: Target, form: ObjectForm): Promise<Answered> {
  parseGetOptions(target.query)
  const object = await getComputed(target.server.engine, callOf(target))
  send(target.exchange, { code: 200, ...representObject(form, { object }) })
  return true
}

/** Below this size a list is sent in one piece. */
const onePieceBytes = 1024 * 1024

export function serveList(target: Target): Answered | Promise<Answered> {
  const form = formOf(target)
  const options = { ...parseListOptions(target.query, listContext(target)), form: listFormOf(form) }
  if (isComputed(target.resource)) {
    return listComputed(target.server.engine, callOf(target), options).then((page) => sendList(target, form, page))
  }
  const page = list(target.server.engine, callOf(target), options)
  return page instanceof Promise ? page.then((listed) => sendList(target, form, listed)) : sendList(target, form, page)
}

function sendList(target: Target, form: ObjectForm, page: ListedPage): Answered | Promise<Answered> {
  const answer = { code: 200, contentType: mediaTypeOf(form.representation.format, form.identity) }
  // Taken by hand: a loop that ends early would close the source, and the rest of the list would be lost.
  const pieces = listTextPieces(form, page)[Symbol.iterator]()
  const begun: Uint8Array[] = []
  let size = 0
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    begun.push(next.value)
    size += next.value.length
    if (size > onePieceBytes) return sendStream(target.exchange, { ...answer, slices: chain(begun, pieces) }).then(() => true as const)
  }
  sendPieces(target.exchange, { ...answer, pieces: begun, size })
  return true
}

/** What was begun is forgotten as it goes. */
function* chain(begun: Uint8Array[], rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  for (let next = begun.shift(); next !== undefined; next = begun.shift()) yield next
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}

export function serveWatch(target: Target): Answered | Promise<Answered> {
  const { exchange, server } = target
  const form = formOf(target)
  checkStream(form.representation, { identity: form.identity, formats: allFormats, transforms: true, routed: true })
  const options = onlyNamed(exchange.info.name, parseWatchOptions(target.query, listContext(target)))
  const timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : Math.round(server.minRequestTimeoutMs * (1 + Math.random()))
  const gone = new AbortController()
  exchange.isLongRunning = true
  exchange.onLeave(() => gone.abort())
  const watch = new Watch(server.engine, { ...callOf(target), name: '', signal: gone.signal }, options)
  const begin = (): Answered => {
    startWatchStream(exchange, { watch, form: watchFormOf(form, server.engine.clock), timeoutMs })
    return true
  }
  const waiting = watch.prepare()
  if (!(waiting instanceof Promise)) return begin()
  const timer = setTimeout(() => gone.abort(), timeoutMs)
  return waiting.then(begin).finally(() => clearTimeout(timer))
}

/** The old form of a watch names one object in its path. */
function onlyNamed(name: string, options: WatchOptions): WatchOptions {
  if (name === '') return options
  const asked = options.selection.fields?.exactValue('metadata.name')
  if (asked !== undefined && asked !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return { ...options, selection: { ...options.selection, fields: oneName(name) } }
}
