// Reads one answer of HTTP/1.1 from the bytes of a connection, within a size. Node's own client makes a request, an answer and a dozen
// listeners of each: asking a webhook through it took 1.9 to 2.1 times the CPU of a bare POST with that client, and takes 0.8 to 1.0 times with
// this (one process, interleaved). http1-answer-beside-node.test.ts holds it against Node's reader.
//
// Only what this server's own questions need of HTTP: no upgrades, no trailers, no headers but a few. What is not plainly an answer is an error.

import { AnswerBody, type BodyLimits } from './answer-body.js'

/** What is known of an answer before its body. */
export interface AnswerHead {
  readonly status: number
  /** Empty where it says none; so are the others. */
  readonly contentType: string
  readonly retryAfter: string
  /** How long the other side keeps the connection, where it says so. */
  readonly keptSeconds: number | undefined
}

export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError'
}

/** Heads of an answer together: informational ones may come before it. */
const mostHeadBytes = 64 << 10
const mostChunkLine = 256
const mostParts = 1024
const headEnd = '\r\n\r\n'
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const wholeNumber = /^\d{1,15}$/
/** A line may be many to somebody else who reads it. */
const lineOrControl = /[\0-\x08\n-\x1f\x7f]/
const chunkLine = /^([0-9A-Fa-f]{1,8})(?:;|$)/
const keepTimeout = /(?:^|[,\s])timeout=(\d{1,6})/

/** Where in an answer its next byte belongs. */
type State = 'head' | 'counted' | 'chunkLine' | 'chunk' | 'chunkEnd' | 'trailer' | 'untilClosed' | 'done'

export class AnswerReader {
  #state: State = 'head'
  #head: AnswerHead | undefined
  #isReusable = true
  /** Bytes of a head or a line that has not ended yet. */
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** The last letters of what came before, in which an end may have begun. */
  #tail = ''
  #headBytes = 0
  /** Of the body, or of the present chunk. */
  #left = 0

  readonly #body: AnswerBody

  constructor(limits: BodyLimits) {
    this.#body = new AnswerBody(limits)
  }

  /** Whether anything has come. */
  get hasBegun(): boolean {
    return this.#head !== undefined || this.#headBytes > 0 || this.#pendingBytes > 0
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Whether another question may follow on the connection. */
  get isReusable(): boolean {
    return this.#isReusable
  }

  get head(): AnswerHead | undefined {
    return this.#head
  }

  get body(): Buffer {
    return this.#body.whole
  }

  /** Throws where the answer is none, or too long. */
  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes
    while (rest !== undefined && rest.length > 0) {
      if (this.#state === 'done') {
        // Nobody asked for that.
        this.#isReusable = false
        return
      }
      rest = this.#step(rest)
    }
  }

  /** The other side has said all that it will. Throws where that is not an answer. */
  close(): void {
    this.#isReusable = false
    if (this.#state === 'untilClosed') this.#state = 'done'
    if (this.#state !== 'done')
      throw Object.assign(new Error(this.#head === undefined ? 'socket hang up' : 'aborted'), { code: 'ECONNRESET' })
  }

  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes)
      case 'counted':
      case 'chunk':
        return this.#readCounted(bytes)
      case 'untilClosed':
        this.#body.add(bytes)
        return undefined
      default:
        return this.#readLine(bytes)
    }
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const text = this.#pendingBytes === 0 ? '' : `${this.#tail}${bytes.toString('latin1', 0, headEnd.length - 1)}`
    const straddling = text.indexOf(headEnd)
    const end = straddling >= 0 ? straddling - this.#tail.length + headEnd.length : bytes.indexOf(headEnd) + headEnd.length
    const isThere = straddling >= 0 || end >= headEnd.length
    this.#headBytes += isThere ? end : bytes.length
    if (this.#headBytes > mostHeadBytes) throw new MalformedAnswerError('the headers of the answer are too long')
    if (!isThere) {
      this.#wait(bytes)
      this.#tail = `${this.#tail}${bytes.toString('latin1', Math.max(0, bytes.length - 3))}`.slice(-3)
      return undefined
    }
    this.#begin(this.#take(bytes.subarray(0, end)))
    return bytes.subarray(end)
  }

  #wait(bytes: Buffer): void {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    // Whoever sends a byte at a time must not make a long list of it.
    if (this.#pending.length === mostParts) this.#pending = [Buffer.concat(this.#pending)]
  }

  /** What was pending, with its end. */
  #take(end: Buffer): string {
    const text = this.#pendingBytes === 0 ? end.toString('latin1') : Buffer.concat([...this.#pending, end]).toString('latin1')
    this.#pending = []
    this.#pendingBytes = 0
    this.#tail = ''
    return text
  }

  #begin(text: string): void {
    const [first = '', ...lines] = text.slice(0, -headEnd.length).split('\r\n')
    const [, minor, code] = statusLine.exec(first) ?? []
    if (code === undefined || lineOrControl.test(first)) throw new MalformedAnswerError('malformed HTTP response')
    const status = Number(code)
    if (status === 101) throw new MalformedAnswerError('the answer changes the protocol')
    const { length, isChunked, isClosed, contentType, retryAfter, keptSeconds } = readFields(lines)
    // What is only information is followed by the answer.
    if (status < 200) return
    this.#head = { status, contentType, retryAfter, keptSeconds }
    this.#isReusable = minor === '1' && !isClosed
    if (status === 204 || status === 304) this.#state = 'done'
    else if (isChunked) this.#state = 'chunkLine'
    else if (length === undefined) {
      this.#isReusable = false
      this.#state = 'untilClosed'
    } else {
      this.#body.expect(length)
      this.#left = length
      this.#state = length === 0 ? 'done' : 'counted'
    }
  }

  #readCounted(bytes: Buffer): Buffer | undefined {
    const part = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#body.add(part)
    this.#left -= part.length
    if (this.#left === 0) this.#state = this.#state === 'counted' ? 'done' : 'chunkEnd'
    return part === bytes ? undefined : bytes.subarray(part.length)
  }

  /** One of the lines around and behind chunks. */
  #readLine(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(10) + 1
    const part = end === 0 ? bytes : bytes.subarray(0, end)
    if (this.#pendingBytes + part.length > mostChunkLine) throw new MalformedAnswerError('malformed chunked encoding')
    if (end === 0) {
      this.#wait(part)
      return undefined
    }
    const line = this.#take(part)
    if (!line.endsWith('\r\n')) throw new MalformedAnswerError('malformed chunked encoding')
    this.#endLine(line.slice(0, -2))
    return bytes.subarray(end)
  }

  #endLine(line: string): void {
    if (this.#state === 'chunkEnd') {
      if (line !== '') throw new MalformedAnswerError('malformed chunked encoding')
      this.#state = 'chunkLine'
      return
    }
    if (this.#state === 'trailer') {
      this.#headBytes += line.length + 2
      if (this.#headBytes > mostHeadBytes) throw new MalformedAnswerError('the headers of the answer are too long')
      if (line === '') this.#state = 'done'
      else checkField(line)
      return
    }
    const size = chunkLine.exec(line)?.[1]
    if (size === undefined || lineOrControl.test(line)) throw new MalformedAnswerError('malformed chunked encoding')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailer' : 'chunk'
  }
}

interface Fields extends Omit<AnswerHead, 'status'> {
  readonly length: number | undefined
  readonly isChunked: boolean
  readonly isClosed: boolean
}

/** Gives where its name ends. */
function checkField(line: string): number {
  const colon = line.indexOf(':')
  if (!token.test(line.slice(0, Math.max(0, colon))) || lineOrControl.test(line))
    throw new MalformedAnswerError('malformed MIME header line')
  return colon
}

function readFields(lines: readonly string[]): Fields {
  let length: number | undefined
  let isChunked = false
  let isClosed = false
  let contentType = ''
  let retryAfter = ''
  let keptSeconds: number | undefined
  for (const line of lines) {
    const colon = checkField(line)
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    switch (name) {
      case 'content-length': {
        const said = wholeNumber.test(value) ? Number(value) : undefined
        if (said === undefined || length !== undefined) throw new MalformedAnswerError('bad Content-Length')
        length = said
        break
      }
      case 'transfer-encoding':
        if (isChunked || value.toLowerCase() !== 'chunked') throw new MalformedAnswerError('unsupported transfer encoding')
        isChunked = true
        break
      case 'connection':
        isClosed ||= value.toLowerCase().includes('close')
        break
      case 'keep-alive': {
        const seconds = keepTimeout.exec(value)?.[1]
        keptSeconds = seconds === undefined ? undefined : Number(seconds)
        break
      }
      case 'content-type':
        contentType = value
        break
      case 'retry-after':
        retryAfter = value
        break
    }
  }
  // Two lengths are a trick.
  if (isChunked && length !== undefined) throw new MalformedAnswerError('an answer with two lengths')
  return { length, isChunked, isClosed, contentType, retryAfter, keptSeconds }
}
