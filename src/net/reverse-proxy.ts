// Passes one request on to another server and its answer back, both as they come, each side no faster than the other takes it.
//
// A request that asks for another protocol is passed on as such; from the other server's 101 on the two connections are one.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Transform, Writable } from 'node:stream'
import { timerMs } from '../base/clock.js'
import { endToEndHeaders, headerOf, keepSingle, type RawHeaders } from './forwarded-headers.js'
import { socketUnder } from './http2-sessions.js'
import { joinConnections } from './join-connections.js'
import type { Request, Response } from './listen.js'
import { passOn } from './pass-on.js'
import { answerRoomBytes, setRoom, streamRoomBytes } from './socket-room.js'
import { bePatientWith, endPatienceWith } from './stalled-connections.js'
import { offeredConnection } from './upgrade.js'
import type { Upstream } from './upstream.js'
import { UpstreamError, UpstreamRefusal, upstreamError } from './upstream-error.js'

/** The beginning of the other server's answer. */
export interface AnswerHead {
  readonly code: number
  /** Those that are passed on; may be changed. */
  readonly headers: RawHeaders
}

export interface Forwarding {
  readonly request: Request
  readonly response: Response
  readonly upstream: Upstream
  /** Where the other server is. */
  readonly url: URL
  /** Path and query, encoded; left out: those of the URL. */
  readonly path?: string
  /** Name that the certificate must have, if the URL has an address instead. */
  readonly serverName?: string | undefined
  /** Made with `headersToForward`, and changed as one likes. */
  readonly headers: RawHeaders
  /** Writes the head of the answer. May throw instead, and then nothing of the answer is passed on. */
  readonly begin: (head: AnswerHead) => void
  /** What the body goes through, one after the other; asked before `begin`, and may change the head. */
  readonly transforms?: ((head: AnswerHead) => readonly Transform[]) | undefined
  /** Of an answer that is none the beginning is read, and thrown as an `UpstreamRefusal`. */
  readonly isRefusal?: ((head: AnswerHead) => boolean) | undefined
  /** The request is this server's own: a GET without a body and without a change of protocol, whatever the client sent. */
  readonly isOwn?: boolean | undefined
  /** A part of the answer's body has come. */
  readonly onData?: ((bytes: number) => void) | undefined
  /** The answer broke off after it had begun, and so will ours. */
  readonly onBroken?: (() => void) | undefined
  /** The protocol is about to change; the head is passed on as it came. */
  readonly onUpgrade?: (() => void) | undefined
  /** Where the body goes, once the answer has begun; left out: into the answer. */
  readonly into?: (() => Writable | undefined) | undefined
  /** How fast a changed protocol may be spoken in each direction; left out: any. */
  readonly bytesPerSecond?: number | undefined
}

/** Whether a request can change the protocol: its client asked for it, and the connection can. */
export const isUpgradable = (response: Response): boolean => offeredConnection(response) !== undefined

/** Resolves when all is over, whoever ended it; rejects with an `UpstreamError` where nothing was answered. */
export function forward(forwarding: Forwarding): Promise<void> {
  return isUpgradable(forwarding.response) && !forwarding.isOwn ? forwardUpgrade(forwarding) : forwardPlain(forwarding)
}

async function forwardPlain(forwarding: Forwarding): Promise<void> {
  const { request, isOwn } = forwarding
  const hasBody = !isOwn && !hasNoBody(request)
  try {
    await send(forwarding, { hasBody, isFresh: false })
  } catch (thrown) {
    // A kept connection may have been closed while it was chosen. Nothing is lost where nothing was sent but a question.
    if (!(thrown instanceof StaleConnectionError) || hasBody || !isSafe(methodOf(forwarding))) throw thrown
    await send(forwarding, { hasBody, isFresh: true })
  }
}

class StaleConnectionError extends UpstreamError {}

const methodOf = ({ request, isOwn }: Forwarding): string => (isOwn ? 'GET' : (request.method ?? 'GET'))

const isSafe = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

function hasNoBody(request: Request): boolean {
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
    const sent = upstream.request({ url, path, method: methodOf(forwarding), headers, isFresh, serverName })
    const watch = watchHead(sent, upstream)
    const leave = (): void => void sent.destroy()
    response.once('close', leave)
    const finish = (): void => {
      watch.stop()
      response.off('close', leave)
    }
    sent.on('error', (error) => {
      finish()
      const failure = upstreamError(error, watch.isConnected)
      if (response.headersSent) breakOff(forwarding)
      // Nobody waits for the answer any more.
      if (response.headersSent || isGone(response)) resolve()
      else reject(sent.reusedSocket && isReset(error) ? new StaleConnectionError(failure.message) : failure)
    })
    // Nobody asked for that, and where nobody listens Node closes without a word.
    sent.once('upgrade', (_answer, socket) => {
      socket.destroy()
      sent.emit('error', new UpstreamError('EOF'))
    })
    sent.once('response', (answer) => {
      watch.stop()
      passBack(forwarding, answer).then(
        () => {
          finish()
          resolve()
        },
        (thrown: unknown) => {
          finish()
          sent.destroy()
          reject(thrown as Error)
        },
      )
    })
    if (hasBody) sendBody(request, sent)
    else sent.end()
  })
}

const isReset = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNRESET' || error.code === 'EPIPE'

/** A client that breaks off in the middle of its body has not sent it: the other side must not take the half for the whole. */
function sendBody(request: Request, sent: ClientRequest): void {
  request.once('aborted', () => void sent.destroy())
  request.once('error', () => void sent.destroy())
  passOn(request, sent, { socket: socketUnder(request), isOver: () => sent.destroyed, onEnd: () => void sent.end() })
  // What nobody takes any more is let go.
  sent.once('close', () => request.resume())
}

/** Answers before the answer, which say that it is to come. */
const mostEarlyAnswers = 5

interface HeadWatch {
  readonly isConnected: boolean
  stop(): void
}

/** Ends a request whose answer does not begin in time, or of which nothing is heard any more. */
function watchHead(sent: ClientRequest, { limits }: Upstream): HeadWatch {
  let isConnected = false
  let timer = setTimeout(() => sent.destroy(new UpstreamError('dial tcp: i/o timeout', { isConnected: false })), timerMs(limits.connectMs))
  const connected = (): void => {
    isConnected = true
    clearTimeout(timer)
    timer = setTimeout(() => sent.destroy(new UpstreamError('net/http: timeout awaiting response headers')), timerMs(limits.headMs))
  }
  sent.once('socket', (socket) => {
    setRoom(socket, streamRoomBytes)
    if (sent.reusedSocket || isReady(socket)) connected()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected)
  })
  let early = 0
  sent.on('information', () => {
    if (++early > mostEarlyAnswers) sent.destroy(new UpstreamError('net/http: too many 1xx informational responses'))
  })
  sent.on('timeout', () => sent.destroy(new UpstreamError('net/http: request canceled: nothing was heard for too long')))
  return {
    get isConnected() {
      return isConnected
    },
    stop: () => clearTimeout(timer),
  }
}

/** A connection through a proxy is there before it is used. */
const isReady = (socket: Socket): boolean => !socket.connecting && !('secureConnecting' in socket && socket.secureConnecting === true)

const nothing = (): void => undefined

/** Throws an `UpstreamError` where its code is none that could be passed on. */
function headOf(answer: IncomingMessage): AnswerHead {
  const { statusCode: code = 0, rawHeaders } = answer
  if (code < 200 || code > 599) throw new UpstreamError(`malformed HTTP status code "${code}"`)
  return { code, headers: endToEndHeaders(rawHeaders) }
}

/** Resolves when the answer has been passed on, or its client has gone; rejects where it was not begun. */
function passBack(forwarding: Forwarding, answer: IncomingMessage): Promise<void> {
  const { response } = forwarding
  return new Promise((resolve, reject) => {
    answer.on('error', nothing)
    try {
      const head = headOf(answer)
      if (!('assignSocket' in response)) keepSingle(head.headers)
      if (forwarding.isRefusal?.(head)) {
        readRefusal(answer, head).then(reject, reject)
        return
      }
      const transforms = forwarding.transforms?.(head) ?? noTransforms
      forwarding.begin(head)
      response.once('close', resolve)
      response.once('finish', resolve)
      answer.on('error', () => breakOff(forwarding))
      pass(answer, forwarding, transforms)
    } catch (thrown) {
      reject(thrown as Error)
    }
  })
}

const noTransforms: readonly Transform[] = []

/** How much of a refusal is read, and for how long. */
const mostRefusalBytes = 50_000
const refusalMs = 10_000

async function readRefusal(answer: IncomingMessage, { code }: AnswerHead): Promise<UpstreamRefusal> {
  const chunks: Buffer[] = []
  let bytes = 0
  const late = setTimeout(() => answer.destroy(), refusalMs)
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= mostRefusalBytes) break
    }
  } catch {
    // What came counts.
  } finally {
    clearTimeout(late)
  }
  return new UpstreamRefusal(code, Buffer.concat(chunks).subarray(0, mostRefusalBytes).toString('utf8'))
}

function pass(answer: IncomingMessage, forwarding: Forwarding, transforms: readonly Transform[]): void {
  const { response, onData } = forwarding
  const target = forwarding.into?.() ?? (response as Writable)
  if (transforms.length > 0) {
    for (const transform of transforms) transform.on('error', () => breakOff(forwarding))
    const stop = (): void => transforms.forEach((transform) => void transform.destroy())
    answer.on('aborted', () => {
      stop()
      breakOff(forwarding)
    })
    response.once('close', stop)
    const [first, ...others] = transforms as readonly [Transform, ...Transform[]]
    passOn(answer, first, { socket: answer.socket, isOver: () => first.destroyed, onEnd: () => void first.end() })
    others.reduce((from, to) => from.pipe(to), first).pipe(target)
    return
  }
  if ('assignSocket' in response && response.socket !== null) keepLittle(response, response.socket)
  let isBegun = false
  passOn(answer, target, {
    socket: answer.socket,
    isOver: () => isGone(response),
    onData: (bytes) => {
      isBegun = true
      onData?.(bytes)
    },
    onEnd: () => {
      isBegun = true
      if (answer.rawTrailers.length > 0 && 'assignSocket' in response) response.addTrailers(answer.trailers as NodeJS.Dict<string>)
      target.end()
    },
  })
  answer.on('aborted', () => breakOff(forwarding))
  // The head goes with the first part of the body where that is there already, and alone where it is not.
  setImmediate(() => isBegun || isGone(response) || flush(response))
}

/** Whoever writes here waits for room, so little of it needs to wait in the connection; later answers on it have room again. */
function keepLittle(response: ServerResponse, socket: Socket): void {
  setRoom(socket, streamRoomBytes)
  bePatientWith(socket)
  response.once('close', () => {
    setRoom(socket, answerRoomBytes)
    endPatienceWith(socket)
  })
}

function flush(response: Response): void {
  if ('assignSocket' in response) response.flushHeaders()
  else (response as Writable).write('')
}

const isGone = (response: Response): boolean => ('assignSocket' in response ? response.destroyed : response.stream.destroyed)

/** Whoever is still there is told by a cut that this is not all. */
function breakOff({ response, onBroken }: Forwarding): void {
  if (!isGone(response)) onBroken?.()
  cut(response)
}

/** A code of HTTP/2. */
const http2InternalError = 2

/** Too late to say anything: a broken answer must look like one. */
function cut(response: Response): void {
  if ('assignSocket' in response) response.destroy()
  else response.stream.close(http2InternalError)
}

/** The other server's refusal of another protocol is passed on; what is neither that nor a change is an error. */
function forwardUpgrade(forwarding: Forwarding): Promise<void> {
  const { request, response, upstream, url, path, serverName, onUpgrade, bytesPerSecond } = forwarding
  const headers = [...forwarding.headers, 'Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '']
  // Node would send an empty chunked body, whose last chunk the other server takes for the first bytes of the new protocol.
  if (!isSafe(request.method) && headerOf(headers, 'content-length') === undefined) headers.push('Content-Length', '0')
  return new Promise((resolve, reject) => {
    const sent = upstream.request({ url, path, method: request.method ?? 'GET', headers, isUpgrade: true, serverName })
    const watch = watchHead(sent, upstream)
    const leave = (): void => void sent.destroy()
    response.once('close', leave)
    sent.on('error', (error) => {
      watch.stop()
      if (response.headersSent) breakOff(forwarding)
      if (response.headersSent || isGone(response)) resolve()
      else reject(upstreamError(error, watch.isConnected))
    })
    sent.once('response', (answer) => {
      watch.stop()
      const passed =
        (answer.statusCode ?? 0) < 400
          ? Promise.reject(new UpstreamError(`invalid upgrade response: status code ${answer.statusCode}`))
          : passBack(forwarding, answer)
      passed.then(resolve, reject).finally(() => {
        response.off('close', leave)
        sent.destroy()
      })
    })
    sent.once('upgrade', (answer, socket, early) => {
      watch.stop()
      response.off('close', leave)
      const client = offeredConnection(response)?.take()
      if (client === undefined || isGone(response)) {
        socket.destroy()
        resolve()
        return
      }
      // Nobody catches what is thrown to the connection that tells of this.
      try {
        response.statusCode = 101
        onUpgrade?.()
        writeSwitch(response as ServerResponse, answer)
        if (early.length > 0) client.socket.write(early)
        if (client.early.length > 0) socket.write(client.early)
        joinConnections(client.socket, socket, { idleMs: upstream.limits.upgradedIdleMs, bytesPerSecond }).then(resolve, resolve)
      } catch (thrown) {
        socket.destroy()
        client.socket.destroy()
        cut(response)
        reject(thrown as Error)
      }
    })
    sent.end()
  })
}

/** The headers as they came, but not the reason: that may hold what Node does not write. What follows goes past the answer. */
function writeSwitch(response: ServerResponse, { rawHeaders }: IncomingMessage): void {
  response.sendDate = false
  response.writeHead(101, rawHeaders)
  response.flushHeaders()
}
