// The bytes of a connection before Node's HTTP sees them. Heads, short answers and all that ends a request go on to it; the body of a long answer,
// which comes in chunks, is handed to its reader from the memory that it was read into. Node would make a buffer and an event of streams of
// each piece of it, which costs three times what it costs to receive them.

import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { OnReadOpts, Socket } from 'node:net'
import { ChunkFraming } from './chunk-framing.js'

/** One read of a connection; what TLS hands on at a time is 16 KiB at most. */
const readLength = 32 * 1024
/** The other side is asked to wait when so much of a body came before anybody wanted it. */
const mostHeld = 64 * 1024
const [lineFeed, carriageReturn] = [10, 13] as const

/** What happens with what comes: `head` and `passed` go to Node, `held` waits for who wants it, `taken` goes to its reader. */
type Mode = 'head' | 'passed' | 'held' | 'taken'

/** Of bytes that are used again when it returns. */
export type TakePart = (part: Uint8Array) => void

const taps = new WeakMap<Socket, AnswerTap>()

export const tapOf = (socket: Socket | null): AnswerTap | undefined => (socket === null ? undefined : taps.get(socket))

/** The tap at which the body of an answer can be had; otherwise it comes by the answer. */
export function tapWithBody(message: IncomingMessage): AnswerTap | undefined {
  const tap = tapOf(message.socket)
  return tap?.holds(message) === true ? tap : undefined
}

/** A connection with a tap. `connect` is given what the socket is to be told. */
export function connectTapped(connect: (onread: OnReadOpts) => Socket): Socket {
  const buffer = Buffer.allocUnsafeSlow(readLength)
  const socket = connect({
    buffer,
    callback: (length) => {
      taps.get(socket)?.read(buffer.subarray(0, length))
      return true
    },
  })
  taps.set(socket, new AnswerTap(socket))
  return socket
}

export class AnswerTap {
  private readonly socket: Socket
  private mode: Mode = 'head'
  /** The last one. */
  private message: IncomingMessage | undefined
  /** How much of the empty line after a head was seen. */
  private matched = 0
  private held: Buffer[] = []
  private heldLength = 0
  private framing = new ChunkFraming()
  private take: TakePart = () => undefined
  private fail: (error: Error) => void = () => undefined

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Another request is sent over the connection. */
  begin(): void {
    this.mode = 'head'
    this.matched = 0
  }

  /** To be called as soon as Node tells of the answer, which is before the first byte of its body. */
  answered(message: IncomingMessage): void {
    const { statusCode, headers } = message
    this.message = message
    const hasBody = statusCode !== 204 && statusCode !== 304
    this.mode = hasBody && headers['transfer-encoding']?.toLowerCase() === 'chunked' ? 'held' : 'passed'
  }

  holds(message: IncomingMessage): boolean {
    return this.mode === 'held' && this.message === message
  }

  /** Hands the body to its reader; of its end tells the answer, for which it must flow. */
  takeBody(take: TakePart, fail: (error: Error) => void): void {
    this.take = take
    this.fail = fail
    this.framing = new ChunkFraming()
    this.release('taken')
  }

  /** Lets the body come by the answer. */
  passBody(): void {
    this.release('passed')
  }

  read(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0 && !this.socket.destroyed) {
      if (this.mode === 'head') rest = this.readHead(rest)
      else if (this.mode === 'taken') rest = this.readBody(rest)
      else {
        if (this.mode === 'held') this.hold(rest)
        else this.pass(rest)
        return
      }
    }
  }

  private release(mode: 'taken' | 'passed'): void {
    const { held } = this
    this.mode = mode
    this.held = []
    this.heldLength = 0
    for (const part of held) this.read(part)
    this.socket.resume()
  }

  private readHead(bytes: Buffer): Buffer {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]
      if (byte === (this.matched % 2 === 0 ? carriageReturn : lineFeed)) this.matched++
      else this.matched = byte === carriageReturn ? 1 : 0
      if (this.matched < 4) continue
      // Where this was no more than news of an answer to come (1xx), the next head follows.
      this.matched = 0
      this.pass(bytes.subarray(0, i + 1))
      return bytes.subarray(i + 1)
    }
    this.pass(bytes)
    return bytes.subarray(bytes.length)
  }

  /** What follows the body. */
  private readBody(bytes: Buffer): Buffer {
    const { framing } = this
    const end = framing.strip(bytes)
    if (framing.length > 0) this.take(bytes.subarray(0, framing.length))
    if (framing.failure !== undefined) {
      this.fail(new Error(framing.failure))
      this.socket.destroy()
    } else if (framing.isOver) {
      // Node's parser waits for the first chunk, and is told that it is the last.
      this.mode = 'passed'
      this.pass(lastChunk)
    }
    return bytes.subarray(end)
  }

  private hold(bytes: Buffer): void {
    this.held.push(Buffer.from(bytes))
    this.heldLength += bytes.length
    if (this.heldLength > mostHeld) this.socket.pause()
  }

  private pass(bytes: Buffer): void {
    if (this.socket.destroyed) return
    // Nobody has asked for anything: it would be taken for the answer to the next request.
    if (this.socket.listenerCount('data') === 0) this.socket.destroy()
    else this.socket.emit('data', Buffer.from(bytes))
  }
}

/** Without the empty line that ends it, before which there may be trailers. */
const lastChunk = Buffer.from('0\r\n')
