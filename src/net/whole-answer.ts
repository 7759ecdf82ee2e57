// An answer of HTTP/1.1 whose head and body are known goes to its connection as one piece. Through Node's response they are three, which are queued,
// checked and joined again: that takes a twelfth of a small read more, and a thirtieth of a small write.
//
// It is done for the usual answer on a connection that stays open. Whatever is different is left to Node, and so is everything on a platform whose
// responses are not what is known here; a test says whether that is so.

import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { behindRoom, mostRoomyBytes } from '../base/front-room.js'

/** What a response has beside its types. */
interface Inside {
  _header: string | null
  _headerSent: boolean
  _contentLength: number | null
  readonly _keepAliveTimeout: number
  readonly _expect_continue: boolean
  readonly _sent100: boolean
  readonly _hasBody: boolean
  readonly _defaultKeepAlive: boolean
  readonly outputData: readonly unknown[]
  readonly maxRequestsOnConnectionReached: boolean
  finished: boolean
  _finish(): void
}

type Connection = Socket & { readonly _httpMessage?: unknown; readonly _hadError?: boolean }

export interface WholeAnswer {
  readonly code: number
  /** Names and values in turn. Among them is the length of the body. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

/** Sends an answer and ends it: larger ones are not copied for this. False: nothing was done, it is for Node to send. */
export function answerWhole(response: ServerResponse, { code, headers, body }: WholeAnswer): boolean {
  const inside = response as unknown as Inside
  const socket = response.socket as Connection | null
  if (socket === null || body.length > mostRoomyBytes || !isUsual(response, inside) || !isFree(socket, response)) return false
  const lines = linesOf(headers)
  const reason = STATUS_CODES[code]
  if (lines === undefined || reason === undefined || code < 200 || code === 204 || code === 304) return false
  const head = `HTTP/1.1 ${code} ${reason}\r\n${lines}${lastLines(inside._keepAliveTimeout)}`
  const bytes = behindRoom(body, head.length) ?? copiedBehind(body, head.length)
  bytes.write(head, 0, 'latin1')
  response.statusCode = code
  response.statusMessage = reason
  inside._header = head
  inside._headerSent = true
  inside._contentLength = body.length
  socket.write(bytes, () => {
    if (!(response.socket as Connection | null)?._hadError) response.emit('finish')
  })
  inside.finished = true
  inside._finish()
  return true
}

function copiedBehind(body: Uint8Array, headBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + body.length)
  bytes.set(body, headBytes)
  return bytes
}

/** Nothing was written or set, the connection may stay open, and it has a body. */
const isUsual = (response: ServerResponse, inside: Inside): boolean =>
  inside._header === null &&
  inside._headerSent === false &&
  inside.finished === false &&
  inside._hasBody === true &&
  inside._defaultKeepAlive === true &&
  inside._contentLength === null &&
  inside._keepAliveTimeout >= 1000 &&
  inside.maxRequestsOnConnectionReached === false &&
  inside._expect_continue === inside._sent100 &&
  inside.outputData.length === 0 &&
  response.shouldKeepAlive &&
  response.sendDate &&
  !response.destroyed &&
  response.req.httpVersionMinor === 1 &&
  response.req.httpVersionMajor === 1 &&
  response.getHeaderNames().length === 0

/** It is this answer's turn on the connection. */
const isFree = (socket: Connection, response: ServerResponse): boolean =>
  socket._httpMessage === response && socket.writable && socket.writableCorked === 0

/** The lines of headers; undefined where Node has to look at them. */
function linesOf(headers: readonly string[]): string | undefined {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    // One by one: a text that was put together from others is looked at by the slow way of expressions.
    if ((!plainNames.has(name) && !isPlain(name)) || notOfValues.test(value)) return undefined
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

const notOfValues = /[^\t\x20-\x7e\x80-\xff]/
const nameOnly = /^[A-Za-z0-9-]+$/

/** Those that say something to Node, too. */
const meant: ReadonlySet<string> = new Set([
  'connection',
  'content-disposition',
  'date',
  'expect',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const plainNames = new Set<string>()
const mostNames = 100

function isPlain(name: string): boolean {
  if (!nameOnly.test(name) || meant.has(name.toLowerCase())) return false
  if (plainNames.size < mostNames) plainNames.add(name)
  return true
}

let last: { readonly idleMs: number; readonly text: string } | undefined

/** What Node adds to every answer. It is the same for a second. */
function lastLines(idleMs: number): string {
  if (last?.idleMs === idleMs) return last.text
  const now = new Date()
  const text = `Date: ${now.toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs / 1000)}\r\n\r\n`
  last = { idleMs, text }
  setTimeout(forget, 1000 - now.getMilliseconds()).unref()
  return text
}

const forget = (): void => {
  last = undefined
}
