// Turns a thrown error into the response: a Status in the negotiated format, or a broken connection if the response had begun.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { negotiateError } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { OverloadedError } from '../../flow-control/memory-pressure.js'
import type { Exchange } from '../pipeline/exchange.js'
import { representDocument } from './representation.js'
import { send, sendPlain } from './send-response.js'
import { failure } from './status.js'

const lineEnd = 0x0a
const indentedJson = { format: 'json', pretty: true } as const

const withoutLineEnd = (body: Uint8Array): Uint8Array => (body.at(-1) === lineEnd ? body.subarray(0, -1) : body)

export function sendError(exchange: Exchange, thrown: unknown): void {
  const error = ApiError.from(thrown)
  if (!(thrown instanceof ApiError)) exchange.lifecycle.panic(exchange, thrown)
  const { response } = exchange
  // The timeout response was sent before this error was thrown.
  if (response.writableEnded) return
  if (response.headersSent) {
    exchange.cut()
    return
  }
  try {
    sendStatus(exchange, error)
  } catch (unsendable) {
    // Without a response the client would wait until its own timeout.
    exchange.lifecycle.panic(exchange, unsendable)
    exchange.cut()
  }
}

function sendStatus(exchange: Exchange, error: ApiError): void {
  const { identity } = exchange.catalog
  if (error instanceof OverloadedError) {
    sendPlain(exchange, 429, `${error.message}\n`, { 'Retry-After': String(error.status.details?.retryAfterSeconds) })
    return
  }
  const query = readQuery(exchange.info.query)
  const negotiated = negotiateError(
    { accept: exchange.request.headers.accept, userAgent: exchange.request.headers['user-agent'], query },
    identity,
  )
  const { code, details } = error.status
  const retryAfter = details?.retryAfterSeconds
  const begunMs = performance.now()
  const represented = representDocument({ representation: negotiated ?? indentedJson, identity }, failure(error))
  const status = represented.status
  // As in kube-apiserver, audit events do not contain the Status of an error in a format that the client does not accept.
  const isObject = negotiated !== undefined && code !== 406
  if (isObject) exchange.addLatency?.('serialize-response-object', performance.now() - begunMs)
  if (exchange.audited === undefined) exchange.refusal = isObject ? status : { message: status?.['message'] }
  send(exchange, {
    code,
    contentType: represented.contentType,
    isObject,
    status,
    // Without the final newline, which ends an event of a watch: an error response is no event.
    body:
      exchange.info.verb === 'watch' && represented.contentType === 'application/json'
        ? withoutLineEnd(represented.body)
        : represented.body,
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  })
}
