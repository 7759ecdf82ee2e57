// GET on resources: get, list and watch.

import { badRequest } from '@cluster-apiserver/api/api/api-error.js'
import { parseGetOptions } from '@cluster-apiserver/api/api/options/get-options.js'
import { parseListOptions, parseWatchOptions, type WatchOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import { fieldSelectorForName } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import { systemTimers } from '@cluster-apiserver/api/base/clock.js'
import { allFormats, checkStream, mediaTypeOf } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { webSocketHandshake } from '../../net/listen/websocket.js'
import { get } from '../../verbs/get.js'
import { asListError, list } from '../../verbs/list.js'
import { computeOf, getComputed, listComputed } from '../../verbs/virtual/virtual-requests.js'
import { Watch } from '../../verbs/watch.js'
import type { Handled } from '../pipeline/filter.js'
import { listChunks, listEncodingOf, type ObjectFormat, representLargeInWorker, representObject } from '../responses/representation.js'
import { send, sendChunks, sendPlain } from '../responses/send-response.js'
import { watchEncodingOf } from '../watch/watch-encoding.js'
import { streamBufferBytes } from '../watch/watch-limits.js'
import { startWatchStream } from '../watch/watch-stream.js'
import { watchRefusal } from '../watch/websocket-watch.js'
import { listContext, negotiateFormat, type Target } from './target.js'

export async function serveGet(target: Target): Promise<Handled> {
  const { server, exchange, call } = target
  const responseFormat = negotiateFormat(target)
  const options = parseGetOptions(target.query)
  const compute = computeOf(call.resource)
  if (compute !== undefined) {
    const object = await getComputed(server.engine, call, compute)
    send(exchange, { code: 200, ...(await representObject(responseFormat, { object })) })
    return true
  }
  const stored = await get(server.engine, call, options)
  const represent = isConstructed(responseFormat)
    ? representLargeInWorker(server, call, responseFormat, { stored })
    : representObject(responseFormat, { stored })
  send(exchange, { code: 200, ...(await represent) })
  return true
}

/** True if the response is encoded from an object rather than copied from the store. */
const isConstructed = ({ representation: { format, pretty, as }, resource }: ObjectFormat): boolean =>
  format !== 'json' || pretty || as !== undefined || resource.fromStored !== undefined || isConverted(resource)

/** True if a conversion webhook may have to convert the stored object. */
const isConverted = ({ conversion, storedApiVersion }: ObjectFormat['resource']): boolean =>
  conversion !== undefined && conversion.version !== storedApiVersion

export async function serveList(target: Target): Promise<Handled> {
  const { server, exchange, call } = target
  const responseFormat = negotiateFormat(target)
  const options = { ...parseListOptions(target.query, listContext(target)), encoding: listEncodingOf(responseFormat) }
  const compute = computeOf(call.resource)
  const page =
    compute === undefined ? await list(server.engine, call, options) : await listComputed(server.engine, call, { ...options, compute })
  const chunks = listChunks(responseFormat, page, server.steps?.writeTextFor(call))
  const contentType = mediaTypeOf(responseFormat.representation.format, responseFormat.identity)
  try {
    await sendChunks(exchange, { code: 200, contentType, isObject: true, chunks })
  } catch (thrown) {
    throw asListError(server.engine, options.version, thrown)
  }
  return true
}

export async function serveWatch(target: Target): Promise<Handled> {
  const { exchange, server } = target
  const responseFormat = negotiateFormat(target)
  const options = selectName(target.call.name, parseWatchOptions(target.query, listContext(target)))
  checkStream(responseFormat.representation, { identity: responseFormat.identity, formats: allFormats, transforms: true, routed: true })
  const handshake = webSocketHandshake(exchange.request, exchange.response)
  const refusal = handshake && watchRefusal(handshake)
  if (refusal !== undefined) {
    sendPlain(exchange, refusal.code, refusal.text, refusal.headers)
    return true
  }
  const timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : Math.round(server.minRequestTimeoutMs * (1 + Math.random()))
  exchange.isLongRunning = true
  const bytes = (exchange.request.url?.length ?? 0) + exchange.header('user-agent').length
  server.watchLimits?.enter(exchange, { requirements: requirementsIn(options.selection), bytes })
  await server.engine.store.budget.yieldIfSpent()
  const watch = new Watch(server.engine, target.call.with({ name: '' }), options)
  const { timers = systemTimers } = server.engine
  await watch.prepare().finally(timers.after(timeoutMs, () => exchange.timeOut()))
  const bufferBytes = server.watchLimits?.bufferBytesEach ?? streamBufferBytes
  const sent = server.sentEvents?.(responseFormat.resource)
  startWatchStream(exchange, {
    watch: server.interception?.wrapWatch(exchange, watch) ?? watch,
    encoding: watchEncodingOf(responseFormat, server.engine),
    timeoutMs,
    bufferBytes,
    sent,
    handshake,
  })
  return true
}

/** Number of requirements of the selectors. */
function requirementsIn({ labels, fields }: WatchOptions['selection']): number {
  let count = fields?.requirements.length ?? 0
  for (const { values } of labels?.requirements ?? []) count += Math.max(1, values.length)
  return count
}

/** The deprecated watch path /watch/…/{name} selects one object. */
function selectName(name: string, options: WatchOptions): WatchOptions {
  if (name === '') return options
  const selected = options.selection.fields?.exactValue('metadata.name')
  if (selected !== undefined && selected !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name")
  return { ...options, selection: { ...options.selection, fields: fieldSelectorForName(name) } }
}
