// GET on resources: one object, a list, or a watch.

import { badRequest } from '../api/api-error.js'
import { oneName } from '../api/field-selector.js'
import { parseGetOptions } from '../api/options/get-options.js'
import { parseListOptions, parseWatchOptions, type WatchOptions } from '../api/options/list-options.js'
import { timerMs } from '../base/clock.js'
import type { Pieces as PieceClock } from '../base/pieces.js'
import { type Promised, whenThere } from '../base/promised.js'
import type { Pieces } from '../codec/item-form.js'
import { allFormats, checkStream, mediaTypeOf } from '../codec/negotiation.js'
import { streamRoomBytes } from '../net/socket-room.js'
import { type WebSocketWish, webSocketWish } from '../net/web-socket.js'
import { computeOf, getComputed, listComputed } from '../verbs/computed.js'
import { get } from '../verbs/get.js'
import { type ListedPage, list, piecesOf } from '../verbs/list.js'
import type { Compute } from '../verbs/special/signatures.js'
import { Watch } from '../verbs/watch.js'
import type { Answered } from './pipeline.js'
import { listFormOf, listPieces, type ObjectForm, representObject } from './represent.js'
import { represented } from './represent-large.js'
import { send, sendPieces, sendPlain, sendStream } from './respond.js'
import { formOf, listContext, type Target } from './target.js'
import { startWatchStream, watchFormOf } from './watch-stream.js'
import { refusalOfWatch } from './web-socket-watch.js'

export function serveGet(target: Target): Answered | Promise<Answered> {
  const form = formOf(target)
  const compute = computeOf(target.call.resource)
  if (compute !== undefined) return serveComputed(target, form, compute)
  const stored = get(target.server.engine, target.call, parseGetOptions(target.query))
  return whenThere(stored, (found) => {
    return whenThere(
      isMade(form) ? represented(target.server, target.call, form, { stored: found }) : representObject(form, { stored: found }),
      (answer): Answered => {
        send(target.exchange, { code: 200, ...answer })
        return true
      },
    )
  })
}

/** Whether the answer is made of an object, and not just copied from the store. */
const isMade = ({ representation: { format, pretty, as }, resource }: ObjectForm): boolean =>
  format !== 'json' || pretty || as !== undefined || resource.fromStored !== undefined || isConverted(resource)

/** Whether somebody else may have to convert it first. */
const isConverted = ({ conversion, storedApiVersion }: ObjectForm['resource']): boolean =>
  conversion !== undefined && conversion.version !== storedApiVersion

async function serveComputed(target: Target, form: ObjectForm, compute: Compute): Promise<Answered> {
  parseGetOptions(target.query)
  const object = await getComputed(target.server.engine, target.call, compute)
  send(target.exchange, { code: 200, ...(await representObject(form, { object })) })
  return true
}

/** Below this size a list is sent in one piece. */
const onePieceBytes = 1024 * 1024

export function serveList(target: Target): Answered | Promise<Answered> {
  const form = formOf(target)
  const options = { ...parseListOptions(target.query, listContext(target)), form: listFormOf(form) }
  const compute = computeOf(target.call.resource)
  if (compute !== undefined) {
    return listComputed(target.server.engine, { ...options, compute }).then((page) => sendList(target, form, page))
  }
  const clock = piecesOf(target.call)
  const page = list(target.server.engine, target.call, options, clock)
  return page instanceof Promise ? page.then((listed) => sendList(target, form, listed, clock)) : sendList(target, form, page, clock)
}

function sendList(target: Target, form: ObjectForm, page: ListedPage, clock = piecesOf(target.call)): Promised<Answered> {
  const answer = { code: 200, contentType: mediaTypeOf(form.representation.format, form.identity), isObject: true }
  return whenThere(listPieces(form, page, target.server.steps?.writeTextFor(target.call)), (pieces) =>
    whenThere(page.items.measure(onePieceBytes), (size) =>
      size === undefined
        ? sendStream(target.exchange, { ...answer, pieces, clock }).then(() => true as const)
        : whenThere(allOf(pieces, clock), (all) => {
            sendPieces(target.exchange, { ...answer, pieces: all })
            return true as const
          }),
    ),
  )
}

/** Those of a list that is in memory already. */
function allOf(pieces: Pieces, clock: PieceClock, all: Uint8Array[] = []): Promised<readonly Uint8Array[]> {
  for (;;) {
    if (clock.isOver) return clock.next().then(() => allOf(pieces, clock, all))
    const piece = pieces()
    if (piece instanceof Promise) {
      return piece.then((later) => {
        if (later === undefined) return all
        all.push(later)
        return allOf(pieces, clock, all)
      })
    }
    if (piece === undefined) return all
    all.push(piece)
  }
}

export function serveWatch(target: Target): Answered | Promise<Answered> {
  const { exchange, server } = target
  const form = formOf(target)
  const options = onlyNamed(target.call.name, parseWatchOptions(target.query, listContext(target)))
  checkStream(form.representation, { identity: form.identity, formats: allFormats, transforms: true, routed: true })
  const wish = webSocketWish(exchange.request, exchange.response)
  const refusal = wish && refusalOfWatch(wish)
  if (refusal !== undefined) {
    sendPlain(exchange, refusal.code, refusal.text, refusal.headers)
    return true
  }
  const timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : Math.round(server.minRequestTimeoutMs * (1 + Math.random()))
  exchange.isLongRunning = true
  const bytes = (exchange.request.url?.length ?? 0) + exchange.header('user-agent').length
  server.watches?.enter(exchange, { conditions: conditionsIn(options.selection), bytes })
  const waiting = server.watches?.turn()
  const call = target.call.with({ name: '' })
  const start = (): Answered | Promise<Answered> =>
    startWatch(target, { watch: new Watch(server.engine, call, options), form, timeoutMs, wish })
  return waiting === undefined ? start() : waiting.then(start)
}

/** How much there is to look at, and to keep. */
function conditionsIn({ labels, fields }: WatchOptions['selection']): number {
  let count = fields?.requirements.length ?? 0
  for (const { values } of labels?.requirements ?? []) count += Math.max(1, values.length)
  return count
}

interface StartedWatch {
  readonly watch: Watch
  readonly form: ObjectForm
  readonly timeoutMs: number
  readonly wish: WebSocketWish | undefined
}

function startWatch({ exchange, server }: Target, { watch, form, timeoutMs, wish }: StartedWatch): Answered | Promise<Answered> {
  const begin = (): Answered => {
    const roomBytes = server.watches?.bytesEach ?? streamRoomBytes
    const sent = server.sentEvents?.(form.resource)
    startWatchStream(exchange, { watch, form: watchFormOf(form, server.engine), timeoutMs, roomBytes, sent, wish })
    return true
  }
  const waiting = watch.prepare()
  if (!(waiting instanceof Promise)) return begin()
  const timer = setTimeout(() => exchange.timeOut(), timerMs(timeoutMs))
  return waiting.then(begin).finally(() => clearTimeout(timer))
}

/** The old form of a watch names one object in its path. */
function onlyNamed(name: string, options: WatchOptions): WatchOptions {
  if (name === '') return options
  const asked = options.selection.fields?.exactValue('metadata.name')
  if (asked !== undefined && asked !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return { ...options, selection: { ...options.selection, fields: oneName(name) } }
}
