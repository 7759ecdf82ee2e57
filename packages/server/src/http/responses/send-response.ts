// Sends responses: small ones in one write, lists as a stream with back-pressure, large ones compressed if the client accepts gzip.

import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { createGzip, type Gzip } from 'node:zlib'
import { encodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { HttpRequest } from '../../net/listen/http-messages.js'
import { BodyChunkCounter } from '../../net/listen/request-body-limits.js'
import type { Exchange } from '../pipeline/exchange.js'
import { AuditedChunks, auditResponse } from './audited-bodies.js'

interface ResponseContent {
  readonly code: number
  readonly contentType: string
  readonly body: Uint8Array
  readonly headers?: { readonly [name: string]: string }
  /** True for objects, which the audit log may show. */
  readonly isObject?: boolean
  readonly status?: { readonly [key: string]: unknown } | undefined
}

/** Smaller bodies are not compressed, as in kube-apiserver. */
const gzipMinBytes = 128 * 1024
const gzipLevel = 1

export function send(exchange: Exchange, content: ResponseContent): void {
  const { response } = exchange
  if (response.headersSent || exchange.isClosed) return
  if (exchange.audited && content.isObject) auditResponse(exchange, content)
  const { body } = content
  const isHead = exchange.info.method === 'HEAD'
  const isCompressed = body.length > gzipMinBytes && !isHead && acceptsGzip(exchange)
  const headers = headersOf(exchange, content.contentType)
  for (const [name, value] of Object.entries(content.headers ?? {})) headers.push(name, value)
  // The compressed length is unknown.
  if (isCompressed) headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding')
  else headers.push('Content-Length', String(body.length))
  if (body.length > minChargedBytes) exchange.chargeResponse(body.length)
  exchange.sentBytes = body.length
  writeHead(exchange, content.code, headers)
  const { addLatency } = exchange
  const begunMs = addLatency === undefined ? 0 : performance.now()
  if (isHead) response.end()
  else if (isCompressed) compressorOf(exchange).end(body)
  else endWith(exchange, body)
  if (content.isObject) addLatency?.('response-write', performance.now() - begunMs)
}

function compressorOf(exchange: Exchange): Gzip {
  const gzip = createGzip({ level: gzipLevel })
  gzip.pipe(exchange.response)
  exchange.onClose(() => gzip.destroy())
  return gzip
}

/** Writes large bodies in chunks, so that the progress of a slow client is visible. */
export function endWith(exchange: Exchange, body: Uint8Array): void {
  if (body.length <= maxSingleWriteBytes) exchange.response.end(body)
  else void endInChunks(exchange, body)
}

/** Maximum length of a body in a single write: with its head, it is below the high-water mark of a socket. */
const maxSingleWriteBytes = 8 * 1024
const tailBytes = 1024

/**
 * Writes the tail once everything before it was sent: otherwise the client's next request may arrive while the socket waits for 'drain',
 * and Node.js 20 refuses it with HPE_PAUSED if it has a long body.
 */
async function endInChunks(exchange: Exchange, body: Uint8Array): Promise<void> {
  const response = exchange.response as Writable
  const tailAt = body.length - tailBytes
  for (let at = 0; at < tailAt; at += chunkBytes)
    if (!response.write(body.subarray(at, Math.min(at + chunkBytes, tailAt))) && !(await drained(exchange))) return
  response.end(body.subarray(tailAt))
}

function drained(exchange: Exchange): Promise<boolean> {
  return new Promise((resolve) => {
    exchange.response.once('drain', () => resolve(true))
    exchange.onClose(() => resolve(false))
  })
}

export function sendNothing(exchange: Exchange): void {
  if (exchange.response.headersSent || exchange.isClosed) return
  writeHead(exchange, 204, [...commonHeaders(exchange)])
  exchange.response.end()
}

export function sendPlain(exchange: Exchange, code: number, text: string, headers: { readonly [name: string]: string } = {}): void {
  send(exchange, {
    code,
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from(text),
    headers: { 'X-Content-Type-Options': 'nosniff', ...headers },
  })
}

/** Sends chunks as one body with a length, without joining them: a copy of a large list costs more than sending it. */
async function sendJoined(
  exchange: Exchange,
  content: Omit<ResponseContent, 'body'> & { readonly chunks: readonly Uint8Array[] },
): Promise<void> {
  const { response } = exchange
  const size = content.chunks.reduce((sum, { length }) => sum + length, 0)
  const mustJoin = content.chunks.length < 2 || !isHttp1(response) || (size > gzipMinBytes && acceptsGzip(exchange))
  if (mustJoin) {
    send(exchange, { ...content, body: Buffer.concat(content.chunks, size) })
    return
  }
  if (response.headersSent || exchange.isClosed) return
  if (exchange.audited?.includesResponseBody && content.isObject)
    auditResponse(exchange, { ...content, body: Buffer.concat(content.chunks, size) })
  const headers = headersOf(exchange, content.contentType)
  headers.push('Content-Length', String(size))
  if (size > minChargedBytes) exchange.chargeResponse(size)
  exchange.sentBytes = size
  writeHead(exchange, content.code, headers)
  const chunks = content.chunks.slice(0, -1)
  const last = content.chunks.at(-1) as Uint8Array
  const tailAt = Math.max(0, last.length - tailBytes)
  response.cork()
  let isFlushed = true
  for (const chunk of chunks) isFlushed = response.write(chunk)
  if (tailAt > 0) isFlushed = response.write(last.subarray(0, tailAt))
  response.uncork()
  if (isFlushed || (await drained(exchange))) response.end(last.subarray(tailAt))
}

/** Shorter lists are sent with a Content-Length. */
const maxBufferedBytes = 1 << 20

/** Sends a list; a long one is read from the store no faster than the client reads it. */
export async function sendChunks(
  exchange: Exchange,
  { chunks, ...content }: Omit<ResponseContent, 'body'> & { readonly chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  const buffered: Uint8Array[] = []
  let bytes = 0
  let write: ((chunk: Uint8Array | undefined) => Promise<boolean>) | undefined
  for await (const chunk of chunks) {
    if (write === undefined) {
      buffered.push(chunk)
      bytes += chunk.length
      if (bytes <= maxBufferedBytes) continue
      if (exchange.isClosed) return
      write = beginStream(exchange, content)
      for (const first of buffered) if (!(await write(first))) return
    } else if (!(await write(chunk))) return
  }
  if (write === undefined) await sendJoined(exchange, { ...content, chunks: buffered })
  else await write(undefined)
}

/** Returns the function that writes a chunk or, for undefined, ends the stream; it resolves with false if the client disconnected. */
function beginStream(exchange: Exchange, content: Omit<ResponseContent, 'body'>): (chunk: Uint8Array | undefined) => Promise<boolean> {
  const { response } = exchange
  const audited = exchange.audited?.includesResponseBody && content.isObject ? new AuditedChunks() : undefined
  const headers = headersOf(exchange, content.contentType)
  const isCompressed = acceptsGzip(exchange)
  if (isCompressed) headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding')
  writeHead(exchange, content.code, headers)
  exchange.chargeResponse(streamBytes)
  const target = isCompressed ? compressorOf(exchange) : (response as Writable)
  let wake = (): void => undefined
  target.on('drain', () => wake())
  exchange.onClose(() => wake())
  let corkedBytes = 0
  return async (chunk) => {
    if (chunk === undefined) {
      if (audited !== undefined) auditResponse(exchange, { contentType: content.contentType, body: audited.join() })
      if (corkedBytes > 0) target.uncork()
      target.end()
      return true
    }
    exchange.sentBytes += chunk.length
    audited?.add(chunk)
    for (let at = 0; at < chunk.length && !exchange.isClosed; at += chunkBytes) {
      const part = chunk.length <= chunkBytes ? chunk : chunk.subarray(at, at + chunkBytes)
      if (corkedBytes === 0) target.cork()
      const isWritable = target.write(part)
      corkedBytes += part.length
      if (corkedBytes < corkBytes) continue
      corkedBytes = 0
      target.uncork()
      if (isWritable) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        if (exchange.isClosed) resolve()
      })
    }
    return !exchange.isClosed
  }
}

/** Chunks are corked up to this size: each write to a TLS socket costs a copy, a record and a system call. Saves 12 % of a list. */
const corkBytes = 512 << 10
const chunkBytes = 128 * 1024
/** Memory of a streamed response: chunks that are corked, joined and encrypted. */
const streamBytes = 3 * corkBytes
/** Smaller responses are not charged to the user's memory. */
const minChargedBytes = 4 * 1024
/** HTTP/2 streams, except long-running ones, are closed if the client reads nothing for this long. */
const unreadTimeoutMs = 60_000
/** HTTP/2 error code CANCEL. */
const http2Cancel = 8

/** Headers of every response that must not be cached. */
export const commonHeaders = (exchange: Exchange): readonly string[] => [
  'Audit-Id',
  exchange.auditId,
  'Cache-Control',
  'no-cache, private',
  ...warningsOf(exchange),
]

export function headersOf(exchange: Exchange, contentType: string): string[] {
  const headers = ['Audit-Id', exchange.auditId, 'Cache-Control', 'no-cache, private', 'Content-Type', contentType]
  for (const text of exchange.warnings) headers.push('Warning', warningValue(text))
  return headers
}

const warningsOf = ({ warnings }: Exchange): readonly string[] => Array.from(warnings).flatMap((text) => ['Warning', warningValue(text)])
const warningValue = (text: string): string => `299 - ${quoted(text)}`

/** An HTTP quoted-string in UTF-8; control characters become spaces. */
const quoted = (text: string): string => `"${encodeHeader(text.replace(/[^\P{Cc}\t]/gu, ' ')).replace(/(["\\])/g, '\\$1')}"`

export function writeHead(exchange: Exchange, code: number, headers: string[]): void {
  const { response } = exchange
  response.statusCode = code
  if (exchange.flowSchema !== undefined) headers.push(...exchange.flowSchema.headers)
  exchange.lifecycle.notify('responseStarted', exchange)
  if (isHttp1(response)) {
    response.writeHead(code, headers)
    return
  }
  const { stream } = response
  if (!exchange.isLongRunning) stream.setTimeout(unreadTimeoutMs, () => stream.close(http2Cancel))
  if (!stream.endAfterHeaders && exchange.request.readableFlowing === null) discardBody(exchange.request)
  try {
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(headers[i] as string, headers[i + 1] as string)
    response.writeHead(code)
  } catch (thrown) {
    // The error response sets its own headers.
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(headers[i] as string)
    throw thrown
  }
}

const maxDiscardedBytes = 3 << 20

/** Reads and drops an unread HTTP/2 body: after a reset of the stream some clients discard the response. */
function discardBody(request: HttpRequest): void {
  let bytes = 0
  const chunks = new BodyChunkCounter(request)
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    chunks.count(chunk.length)
    if (bytes > maxDiscardedBytes) request.destroy()
  })
  request.on('error', ignoreError)
}

const ignoreError = (): void => undefined

/** Returns false if the socket buffer is full. */
export const writeTo = (exchange: Exchange, bytes: Uint8Array): boolean => (exchange.response as Writable).write(bytes)

interface Connection {
  readonly key: object
  unsentBytes(): number
  destroy(): void
}

export function connectionOf({ response }: Exchange): Connection | undefined {
  const stream = isHttp1(response) ? response.socket : response.stream
  if (stream === null || stream.destroyed) return undefined
  const session = 'session' in stream ? stream.session : undefined
  return { key: stream, unsentBytes: () => stream.writableLength, destroy: () => void (session ?? stream).destroy() }
}

/** Sends the head of a stream before its first event. */
export function flushHead(exchange: Exchange): void {
  if (isHttp1(exchange.response)) exchange.response.flushHeaders()
  else if (!exchange.response.headersSent) exchange.response.write('')
}

const isHttp1 = (response: Exchange['response']): response is ServerResponse => 'assignSocket' in response

export function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.request.headers['accept-encoding']
  return typeof accepted === 'string' && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(accepted)
}
