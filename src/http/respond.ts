// How answers leave: one write for what is small, a stream with back-pressure for lists, compressed when asked and worth it.

import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { createGzip, type Gzip } from 'node:zlib'
import { encodeHeader } from '../base/header-text.js'
import type { Pieces as PieceClock } from '../base/pieces.js'
import type { Pieces } from '../codec/item-form.js'
import { answerRoomBytes, setRoom, streamRoomBytes, unsentBytes } from '../net/socket-room.js'
import { answerWhole } from '../net/whole-answer.js'
import { auditAnswer, KeptPieces } from './audited-bodies.js'
import type { Exchange, WireRequest } from './exchange.js'

export interface Answer {
  readonly code: number
  readonly contentType: string
  readonly body: Uint8Array
  readonly headers?: { readonly [name: string]: string }
  /** Set where it is an object, and not a page for people: the audit log may show it. */
  readonly isObject?: boolean
  /** The object, where it is a Status. */
  readonly status?: { readonly [key: string]: unknown } | undefined
}

/** Below this size compression costs more than it saves; the reference uses the same bound. */
const gzipMinBytes = 128 * 1024
const gzipLevel = 1

export function send(exchange: Exchange, answer: Answer): void {
  const { response } = exchange
  if (response.headersSent || exchange.isGone) return
  if (exchange.audited && answer.isObject) auditAnswer(exchange, answer)
  const { body } = answer
  const isHead = exchange.info.method === 'HEAD'
  const isCompressed = body.length > gzipMinBytes && !isHead && acceptsGzip(exchange)
  const headers = headersOf(exchange, answer.contentType)
  for (const [name, value] of Object.entries(answer.headers ?? {})) headers.push(name, value)
  // How long it will be compressed nobody knows before it is: that is done in other threads while it is sent.
  if (isCompressed) headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding')
  else headers.push('Content-Length', String(body.length))
  if (body.length > countedBytes) exchange.holdAnswer(body.length)
  exchange.sentBytes = body.length
  beginAnswer(exchange, answer.code, headers)
  if (!isHead && !isCompressed && isHttp1(response) && answerWhole(response, { code: answer.code, headers, body })) return
  sendHead(exchange, answer.code, headers)
  if (isHead) response.end()
  else if (isCompressed) compressorOf(exchange).end(body)
  else endWith(exchange, body)
}

function compressorOf(exchange: Exchange): Gzip {
  const gzip = createGzip({ level: gzipLevel })
  gzip.pipe(exchange.response)
  exchange.onLeave(() => gzip.destroy())
  return gzip
}

/** Ends an answer with its body: a large one is encrypted and sent in turns of the event loop, as its client takes it. */
export function endWith(exchange: Exchange, body: Uint8Array): void {
  const { response } = exchange
  if (body.length <= turnBytes) {
    response.end(body)
    return
  }
  let at = 0
  const writeNext = (): void => {
    if (exchange.isGone) return
    const piece = body.subarray(at, at + turnBytes)
    at += turnBytes
    if (at >= body.length) response.end(piece)
    else if ((response as Writable).write(piece)) setImmediate(writeNext)
    else response.once('drain', writeNext)
  }
  writeNext()
}

/** A few of these are encrypted within a millisecond. */
const turnBytes = 512 * 1024

/** Success, and nothing to say. */
export function sendNothing(exchange: Exchange): void {
  if (exchange.response.headersSent || exchange.isGone) return
  writeHead(exchange, 204, [...headersBeside(exchange)])
  exchange.response.end()
}

/** A few words for whoever asks without a format. */
export function sendPlain(exchange: Exchange, code: number, text: string, headers: { readonly [name: string]: string } = {}): void {
  send(exchange, {
    code,
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from(text),
    headers: { 'X-Content-Type-Options': 'nosniff', ...headers },
  })
}

/** Sends what is in several pieces as one answer, without joining them first: a copy of a large list costs more than its sending. */
export function sendPieces(exchange: Exchange, answer: Omit<Answer, 'body'> & { readonly pieces: readonly Uint8Array[] }): void {
  const { response } = exchange
  const size = answer.pieces.reduce((sum, { length }) => sum + length, 0)
  const joins = answer.pieces.length < 2 || !isHttp1(response) || (size > gzipMinBytes && acceptsGzip(exchange))
  if (joins) {
    send(exchange, { ...answer, body: Buffer.concat(answer.pieces, size) })
    return
  }
  if (response.headersSent || exchange.isGone) return
  if (exchange.audited?.wantsAnswer && answer.isObject) auditAnswer(exchange, { ...answer, body: Buffer.concat(answer.pieces, size) })
  const headers = headersOf(exchange, answer.contentType)
  headers.push('Content-Length', String(size))
  if (size > countedBytes) exchange.holdAnswer(size)
  exchange.sentBytes = size
  writeHead(exchange, answer.code, headers)
  response.cork()
  for (const piece of answer.pieces) response.write(piece)
  response.end()
  response.uncork()
}

interface Stream extends Omit<Answer, 'body'> {
  readonly pieces: Pieces
  /** A client that takes whatever it is sent holds nobody for longer than a piece of work. */
  readonly clock: PieceClock
}

/** Sends pieces as they come; the next one is asked for when the client has taken the last. */
export async function sendStream(exchange: Exchange, answer: Stream): Promise<void> {
  if (exchange.isGone) return
  const { response } = exchange
  const kept = exchange.audited?.wantsAnswer && answer.isObject ? new KeptPieces() : undefined
  const headers = headersOf(exchange, answer.contentType)
  const compresses = acceptsGzip(exchange)
  if (compresses) headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding')
  writeHead(exchange, answer.code, headers)
  exchange.holdAnswer(streamBytes)
  withStreamRoom(exchange)
  const gzip = compresses ? compressorOf(exchange) : undefined
  const target = gzip ?? (response as Writable)
  let wake = (): void => undefined
  let isGone = false
  target.on('drain', () => wake())
  exchange.onLeave(() => {
    isGone = true
    wake()
  })
  for (;;) {
    if (answer.clock.isOver) await answer.clock.next()
    const next = answer.pieces()
    const piece = next instanceof Promise ? await next : next
    if (piece === undefined) break
    exchange.sentBytes += piece.length
    kept?.add(piece)
    for (let at = 0; at < piece.length; at += pieceBytes) {
      const isTaken = target.write(piece.length <= pieceBytes ? piece : piece.subarray(at, at + pieceBytes))
      if (!isTaken) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (isGone) resolve()
        })
      }
      if (isGone) return
    }
  }
  if (kept !== undefined) auditAnswer(exchange, { contentType: answer.contentType, body: kept.join() })
  target.end()
}

/** Small enough that the copies which encryption makes of each do not matter, large enough that their number does not, either. */
const pieceBytes = 128 * 1024
/** What an answer of any length holds while it is sent, with what was read ahead for it. */
const streamBytes = 1 << 20
/** Smaller answers are not counted: a connection holds few of them. */
const countedBytes = 64 * 1024

/** Whoever writes a stream waits for its client; so little of it needs to lie in the connection. */
export function withStreamRoom(exchange: Exchange, roomBytes = streamRoomBytes): void {
  const { response } = exchange
  if (!isHttp1(response) || response.socket === null) return
  const { socket } = response
  setRoom(socket, roomBytes)
  exchange.onLeave(() => setRoom(socket, answerRoomBytes))
}

/** What every answer has, also one that somebody else has given. */
export const headersBeside = (exchange: Exchange): readonly string[] => [
  'Audit-Id',
  exchange.auditId,
  'Cache-Control',
  'no-cache, private',
  ...warningsOf(exchange),
]

export function headersOf(exchange: Exchange, contentType: string): string[] {
  const headers = ['Audit-Id', exchange.auditId, 'Cache-Control', 'no-cache, private', 'Content-Type', contentType]
  for (const text of exchange.warnings) headers.push('Warning', warning(text))
  return headers
}

const warningsOf = ({ warnings }: Exchange): readonly string[] => Array.from(warnings).flatMap((text) => ['Warning', warning(text)])
const warning = (text: string): string => `299 - ${quoted(text)}`

/** A quoted string of HTTP: what cannot stand in a header is left out, and what is not ASCII goes as UTF-8. */
const quoted = (text: string): string => `"${encodeHeader(text.replace(/[^\P{Cc}\t]/gu, ' ')).replace(/(["\\])/g, '\\$1')}"`

export function writeHead(exchange: Exchange, code: number, headers: string[]): void {
  beginAnswer(exchange, code, headers)
  sendHead(exchange, code, headers)
}

function beginAnswer(exchange: Exchange, code: number, headers: string[]): void {
  exchange.response.statusCode = code
  if (exchange.flow !== undefined) headers.push(...exchange.flow.headers)
  exchange.lifecycle.tell('responseStarted', exchange)
}

function sendHead(exchange: Exchange, code: number, headers: readonly string[]): void {
  const { response } = exchange
  if (isHttp1(response)) {
    response.writeHead(code, headers as string[])
    return
  }
  if (!response.stream.endAfterHeaders && exchange.request.readableFlowing === null) passOver(exchange.request)
  try {
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(headers[i] as string, headers[i + 1] as string)
    response.writeHead(code)
  } catch (thrown) {
    // Whoever tells of this writes a head of its own.
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(headers[i] as string)
    throw thrown
  }
}

/** Of a body that nobody wants no more is taken than of any other. */
const mostPassedOver = 3 << 20

/** Who is answered before the body was read is heard to its end: a stream that is reset instead makes clients doubt an answer that is whole. */
function passOver(request: WireRequest): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostPassedOver) request.destroy()
  })
  request.on('error', nothing)
}

const nothing = (): void => undefined

/** False when the client is slower than we are. */
export const writeTo = (exchange: Exchange, bytes: Uint8Array): boolean => (exchange.response as Writable).write(bytes)

/**
 * The same for bytes that many streams are given: in HTTP/1.1 the chunk that they are is put together once, and goes to the connection as it
 * is. Whoever writes so waits with {@link onRoom}.
 */
export function writeShared(exchange: Exchange, bytes: Uint8Array): boolean {
  const { response } = exchange
  if (!isHttp1(response) || !response.socket?.writable || !response.chunkedEncoding || bytes.length > mostSharedBytes)
    return writeTo(exchange, bytes)
  if (lastChunk?.bytes !== bytes) lastChunk = { bytes, chunk: chunkOf(bytes) }
  return response.socket.write(lastChunk.chunk)
}

/** Of larger ones a copy costs more than what is saved, and the last one is held until the next. */
const mostSharedBytes = 64 << 10
let lastChunk: { readonly bytes: Uint8Array; readonly chunk: Buffer } | undefined

const chunkOf = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd])
const lineEnd = Buffer.from('\r\n')

/** Calls back whenever there is room again for what a stream writes, until its client has gone. */
export function onRoom(exchange: Exchange, resume: () => void): void {
  const { response } = exchange
  response.on('drain', resume)
  if (!isHttp1(response)) return
  const listen = (socket: Socket): void => {
    socket.on('drain', resume)
    exchange.onLeave(() => socket.off('drain', resume))
  }
  // An answer behind another one on its connection gets the socket when that has ended.
  if (response.socket === null) response.once('socket', listen)
  else listen(response.socket)
}

export interface Connection {
  /** What stands for it: several answers may share it. */
  readonly key: object
  /** How much of everything that was written to it has not been sent. */
  unsentBytes(): number
  destroy(): void
}

/** The connection under an answer; undefined when it is gone. */
export function connectionOf({ response }: Exchange): Connection | undefined {
  if (isHttp1(response)) {
    const { socket } = response
    if (socket === null) return undefined
    return { key: socket, unsentBytes: () => socket.writableLength + unsentBytes(socket), destroy: () => void socket.destroy() }
  }
  const { session } = response.stream
  if (session === undefined || session.destroyed) return undefined
  return { key: session, unsentBytes: () => (session.destroyed ? 0 : unsentBytes(session.socket)), destroy: () => session.destroy() }
}

/** The client shall see that its stream has begun, before anything happens on it. */
export function flushHead(exchange: Exchange): void {
  if (isHttp1(exchange.response)) exchange.response.flushHeaders()
  else if (!exchange.response.headersSent) exchange.response.write('')
}

const isHttp1 = (response: Exchange['response']): response is import('node:http').ServerResponse => 'assignSocket' in response

export function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.request.headers['accept-encoding']
  return typeof accepted === 'string' && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/.test(accepted)
}
