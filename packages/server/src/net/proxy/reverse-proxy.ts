// The reverse proxy: forwards a request to an upstream server and sends its response back, with back-pressure.
// After a 101 response the two connections are joined.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Transform, Writable } from 'node:stream'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { HttpRequest, HttpResponse } from '../listen/http-messages.js'
import { endStallExemption, exemptFromStallCheck } from '../listen/stalled-connections.js'
import { upgradableConnection } from '../listen/upgrade.js'
import { isReset } from '../outbound/open-socket.js'
import { copyStream } from './copy-stream.js'
import { dropDuplicateHeaders, endToEndHeaders, headerOf, type RawHeaders } from './forwarded-headers.js'
import { joinConnections } from './join-connections.js'
import type { Upstream } from './upstream.js'
import { UpstreamError, UpstreamRefusal, upstreamError } from './upstream-error.js'

export interface ResponseHead {
  readonly code: number
  readonly headers: RawHeaders
}

export interface Forwarding {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly upstream: Upstream
  readonly url: URL
  readonly path?: string
  /** Name that the certificate must have, if it is not the host of the URL. */
  readonly serverName?: string | undefined
  /** Request headers, from `headersToForward`. */
  readonly headers: RawHeaders
  /** Writes the response head; if it throws, nothing is sent. */
  readonly begin: (head: ResponseHead) => void
  /** Returns transforms of the body; called before `begin`, and may change the head. */
  readonly transforms?: ((head: ResponseHead) => readonly Transform[]) | undefined
  /** Returns true for a response that is thrown as an `UpstreamRefusal` instead of sent to the client. */
  readonly isRefusal?: ((head: ResponseHead) => boolean) | undefined
  /** Sends a GET without body and upgrade, whatever the client sent. */
  readonly isPlainGet?: boolean | undefined
  readonly onData?: ((bytes: number) => void) | undefined
  /** Called when the upstream server aborted its response. */
  readonly onBroken?: (() => void) | undefined
  /** Called before the connection is upgraded. */
  readonly onUpgrade?: (() => void) | undefined
  /** Target of the response body; default: the client's response. */
  readonly into?: (() => Writable | undefined) | undefined
  /** Rate limit of an upgraded connection in each direction; undefined: none. */
  readonly bytesPerSecond?: number | undefined
}

/** True if the client requested an upgrade over HTTP/1.1. */
export const isUpgradable = (response: HttpResponse): boolean => upgradableConnection(response) !== undefined

/** Resolves when the response has ended; rejects if none was sent, with an `UpstreamError` if the upstream server sent none. */
export function forward(forwarding: Forwarding): Promise<void> {
  return isUpgradable(forwarding.response) && !forwarding.isPlainGet ? forwardUpgrade(forwarding) : forwardRequest(forwarding)
}

async function forwardRequest(forwarding: Forwarding): Promise<void> {
  const { request, isPlainGet } = forwarding
  const hasBody = !isPlainGet && !hasNoBody(request)
  try {
    await send(forwarding, { hasBody, isFresh: false })
  } catch (thrown) {
    // The upstream may have closed an idle connection: requests without side effects are retried on a new one.
    if (!(thrown instanceof StaleConnectionError) || hasBody || !isSafe(methodOf(forwarding))) throw thrown
    await send(forwarding, { hasBody, isFresh: true })
  }
}

class StaleConnectionError extends UpstreamError {}

const methodOf = ({ request, isPlainGet }: Forwarding): string => (isPlainGet ? 'GET' : (request.method ?? 'GET'))

const isSafe = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

function hasNoBody(request: HttpRequest): boolean {
  if ('stream' in request) return request.stream.endAfterHeaders
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
}

function send(forwarding: Forwarding, { hasBody, isFresh }: { readonly hasBody: boolean; readonly isFresh: boolean }): Promise<void> {
  const { request, response, upstream, url, path, serverName } = forwarding
  const headers = [...forwarding.headers]
  const hasLength = headerOf(headers, 'content-length') !== undefined
  if (hasBody && !hasLength) headers.push('Transfer-Encoding', 'chunked')
  else if (!hasBody && !hasLength && !isSafe(methodOf(forwarding))) headers.push('Content-Length', '0')
  return new Promise((resolve, reject) => {
    const upstreamRequest = upstream.request({ url, path, method: methodOf(forwarding), headers, isFresh, serverName })
    const headTimer = startHeadTimer(upstreamRequest, upstream)
    const abort = (): void => void upstreamRequest.destroy()
    response.once('close', abort)
    const finish = (): void => {
      headTimer.stop()
      response.off('close', abort)
    }
    upstreamRequest.on('error', (error) => {
      finish()
      const failure = upstreamError(error, headTimer.isConnected)
      if (response.headersSent) abortResponse(forwarding)
      if (response.headersSent || isClosed(response)) resolve()
      else reject(upstreamRequest.reusedSocket && isReset(error) ? new StaleConnectionError(failure.message) : failure)
    })
    // Without a listener Node.js would close the connection without an error.
    upstreamRequest.once('upgrade', (_response, socket) => {
      socket.destroy()
      upstreamRequest.emit('error', new UpstreamError('EOF'))
    })
    upstreamRequest.once('response', (received) => {
      headTimer.stop()
      sendBack(forwarding, received).then(
        () => {
          finish()
          resolve()
        },
        (thrown: unknown) => {
          finish()
          upstreamRequest.destroy()
          reject(thrown as Error)
        },
      )
    })
    if (hasBody) sendBody(request, upstreamRequest)
    else upstreamRequest.end()
  })
}

/** Destroys the upstream request if the client disconnects within its body, so that half a body is not taken for the whole. */
function sendBody(request: HttpRequest, upstreamRequest: ClientRequest): void {
  request.once('aborted', () => void upstreamRequest.destroy())
  request.once('error', () => void upstreamRequest.destroy())
  copyStream(request, upstreamRequest, { isTargetClosed: () => upstreamRequest.destroyed, onEnd: () => void upstreamRequest.end() })
  // Drops the rest of the body.
  upstreamRequest.once('close', () => request.resume())
}

/** Maximum number of 1xx responses. */
const maxInformational = 5

interface HeadTimer {
  readonly isConnected: boolean
  stop(): void
}

/** Fails a request whose connection or response head is late. */
function startHeadTimer(upstreamRequest: ClientRequest, { limits }: Upstream): HeadTimer {
  let isConnected = false
  let timer = setTimeout(
    () => upstreamRequest.destroy(new UpstreamError('dial tcp: i/o timeout', { isConnected: false })),
    timerMs(limits.connectMs),
  )
  const connected = (): void => {
    isConnected = true
    clearTimeout(timer)
    timer = setTimeout(
      () => upstreamRequest.destroy(new UpstreamError('net/http: timeout awaiting response headers')),
      timerMs(limits.headMs),
    )
  }
  upstreamRequest.once('socket', (socket) => {
    if (upstreamRequest.reusedSocket || isReady(socket)) connected()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected)
  })
  let informational = 0
  upstreamRequest.on('information', () => {
    if (++informational > maxInformational) upstreamRequest.destroy(new UpstreamError('net/http: too many 1xx informational responses'))
  })
  upstreamRequest.on('timeout', () => upstreamRequest.destroy(new UpstreamError('net/http: request canceled: idle timeout')))
  return {
    get isConnected() {
      return isConnected
    },
    stop: () => clearTimeout(timer),
  }
}

/** True for sockets through a tunnel, which are connected already. */
const isReady = (socket: Socket): boolean => !socket.connecting && !('secureConnecting' in socket && socket.secureConnecting === true)

const ignore = (): void => undefined

/** Throws an `UpstreamError` for an invalid status code. */
function headOf(received: IncomingMessage): ResponseHead {
  const { statusCode: code = 0, rawHeaders } = received
  if (code < 200 || code > 599) throw new UpstreamError(`malformed HTTP status code "${code}"`)
  return { code, headers: endToEndHeaders(rawHeaders) }
}

/** Resolves when the response was sent or the client disconnected; rejects if it was not started. */
function sendBack(forwarding: Forwarding, received: IncomingMessage): Promise<void> {
  const { response } = forwarding
  return new Promise((resolve, reject) => {
    received.on('error', ignore)
    try {
      const head = headOf(received)
      if (!('assignSocket' in response)) dropDuplicateHeaders(head.headers)
      if (forwarding.isRefusal?.(head)) {
        readRefusal(received, head).then(reject, reject)
        return
      }
      const transforms = forwarding.transforms?.(head) ?? noTransforms
      forwarding.begin(head)
      response.once('close', resolve)
      response.once('finish', resolve)
      received.on('error', () => abortResponse(forwarding))
      copyBody(received, forwarding, transforms)
    } catch (thrown) {
      reject(thrown as Error)
    }
  })
}

const noTransforms: readonly Transform[] = []

/** Limits of a refused response, whose body becomes the error message. */
const maxRefusalBytes = 50_000
const refusalTimeoutMs = 10_000

async function readRefusal(received: IncomingMessage, { code }: ResponseHead): Promise<UpstreamRefusal> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => received.destroy(), refusalTimeoutMs)
  try {
    for await (const chunk of received as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxRefusalBytes) break
    }
  } catch {
    // Uses what was received.
  } finally {
    clearTimeout(timer)
  }
  return new UpstreamRefusal(code, Buffer.concat(chunks).subarray(0, maxRefusalBytes).toString('utf8'))
}

function copyBody(received: IncomingMessage, forwarding: Forwarding, transforms: readonly Transform[]): void {
  const { response, onData } = forwarding
  const target = forwarding.into?.() ?? (response as Writable)
  if (transforms.length > 0) {
    for (const transform of transforms) transform.on('error', () => abortResponse(forwarding))
    const stop = (): void => transforms.forEach((transform) => void transform.destroy())
    received.on('aborted', () => {
      stop()
      abortResponse(forwarding)
    })
    response.once('close', stop)
    const [first, ...others] = transforms as readonly [Transform, ...Transform[]]
    copyStream(received, first, { isTargetClosed: () => first.destroyed, onEnd: () => void first.end() })
    others.reduce((from, to) => from.pipe(to), first).pipe(target)
    return
  }
  if ('assignSocket' in response && response.socket !== null) exemptWhileOpen(response, response.socket)
  let isStarted = false
  copyStream(received, target, {
    isTargetClosed: () => isClosed(response),
    onData: (bytes) => {
      isStarted = true
      onData?.(bytes)
    },
    onEnd: () => {
      isStarted = true
      if (received.rawTrailers.length > 0 && 'assignSocket' in response) response.addTrailers(received.trailers as NodeJS.Dict<string>)
      target.end()
    },
  })
  received.on('aborted', () => abortResponse(forwarding))
  // Sends the head alone only if no body has arrived in this turn.
  setImmediate(() => isStarted || isClosed(response) || flush(response))
}

/** Exempts the connection from the stall check: back-pressure keeps its buffer small. */
function exemptWhileOpen(response: ServerResponse, socket: Socket): void {
  exemptFromStallCheck(socket)
  response.once('close', () => endStallExemption(socket))
}

function flush(response: HttpResponse): void {
  if ('assignSocket' in response) response.flushHeaders()
  else (response as Writable).write('')
}

const isClosed = (response: HttpResponse): boolean => ('assignSocket' in response ? response.destroyed : response.stream.destroyed)

/** Resets the response, so that the client does not take it for complete. */
function abortResponse({ response, onBroken }: Forwarding): void {
  if (!isClosed(response)) onBroken?.()
  resetResponse(response)
}

const http2InternalError = 2

function resetResponse(response: HttpResponse): void {
  if ('assignSocket' in response) response.destroy()
  else response.stream.close(http2InternalError)
}

/** A refused upgrade (4xx, 5xx) is sent back; other responses than 101 are errors. */
function forwardUpgrade(forwarding: Forwarding): Promise<void> {
  const { request, response, upstream, url, path, serverName, onUpgrade, bytesPerSecond } = forwarding
  const headers = [...forwarding.headers, 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '']
  // Without a length Node.js sends an empty chunked body, whose bytes would be taken for the new protocol.
  if (!isSafe(request.method) && headerOf(headers, 'content-length') === undefined) headers.push('Content-Length', '0')
  return new Promise((resolve, reject) => {
    const upstreamRequest = upstream.request({ url, path, method: request.method ?? 'GET', headers, isUpgrade: true, serverName })
    const headTimer = startHeadTimer(upstreamRequest, upstream)
    const abort = (): void => void upstreamRequest.destroy()
    response.once('close', abort)
    upstreamRequest.on('error', (error) => {
      headTimer.stop()
      if (response.headersSent) abortResponse(forwarding)
      if (response.headersSent || isClosed(response)) resolve()
      else reject(upstreamError(error, headTimer.isConnected))
    })
    upstreamRequest.once('response', (received) => {
      headTimer.stop()
      const sentBack =
        (received.statusCode ?? 0) < 400
          ? Promise.reject(new UpstreamError(`invalid upgrade response: status code ${received.statusCode}`))
          : sendBack(forwarding, received)
      sentBack.then(resolve, reject).finally(() => {
        response.off('close', abort)
        upstreamRequest.destroy()
      })
    })
    upstreamRequest.once('upgrade', (upgraded, socket, early) => {
      headTimer.stop()
      response.off('close', abort)
      const client = upgradableConnection(response)?.take()
      if (client === undefined || isClosed(response)) {
        socket.destroy()
        resolve()
        return
      }
      // Errors of an event listener would end the process.
      try {
        response.statusCode = 101
        onUpgrade?.()
        writeUpgradeHead(response as ServerResponse, upgraded)
        if (early.length > 0) client.socket.write(early)
        if (client.early.length > 0) socket.write(client.early)
        joinConnections(client.socket, socket, { idleMs: upstream.limits.upgradedIdleMs, bytesPerSecond }).then(resolve, resolve)
      } catch (thrown) {
        socket.destroy()
        client.socket.destroy()
        resetResponse(response)
        reject(thrown as Error)
      }
    })
    upstreamRequest.end()
  })
}

/** Headers as received; the default reason phrase, because Node.js may refuse to write the received one. */
function writeUpgradeHead(response: ServerResponse, { rawHeaders }: IncomingMessage): void {
  response.sendDate = false
  response.writeHead(101, rawHeaders)
  response.flushHeaders()
}
