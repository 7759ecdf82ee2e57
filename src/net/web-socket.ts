// The server's side of WebSocket (RFC 6455) where only the server has something to say: messages are written in parts, with back-pressure, and what a
// client sends is read to be forgotten, but for its pings and its goodbye.

import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Request, Response } from './listen.js'
import { ReadPauses } from './read-pauses.js'
import { setRoom } from './socket-room.js'
import { offeredConnection } from './upgrade.js'
import { FrameSkimmer, frameHead, opcodes } from './web-socket-frames.js'

/** Why a request for WebSocket cannot be granted: the code of the answer, and a few words. */
export interface HandshakeRefusal {
  readonly code: number
  readonly text: string
  readonly headers?: { readonly [name: string]: string }
}

/** What a client that wants to speak WebSocket has said. */
export interface WebSocketWish {
  readonly key: string
  /** In its order, without the one that holds a token. */
  readonly protocols: readonly string[]
  /** Where the script comes from that asks; empty: nobody said. */
  readonly origin: string
  readonly refusal?: HandshakeRefusal
}

/** Browsers cannot send a token but as the name of a protocol: whichever vocabulary they speak, nobody else is shown it. */
export const isTokenProtocol = (name: string): boolean => name.startsWith('base64url.bearer.authorization.')

/** Undefined where the client wants nothing of the kind, or its connection cannot. */
export function webSocketWish(request: Request, response: Response): WebSocketWish | undefined {
  const { headers } = request
  if (headers.upgrade?.toLowerCase() !== 'websocket' || offeredConnection(response) === undefined) return undefined
  const key = textOf(headers['sec-websocket-key'])
  const protocols = textOf(headers['sec-websocket-protocol'])
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !isTokenProtocol(name))
  const wish = { key, protocols, origin: textOf(headers.origin) }
  if (request.method !== 'GET') return { ...wish, refusal: { code: 405, text: 'bad method' } }
  if (key === '') return { ...wish, refusal: { code: 400, text: 'mismatch challenge/response' } }
  if (textOf(headers['sec-websocket-version']) !== '13')
    return { ...wish, refusal: { code: 400, text: 'missing or bad WebSocket Version', headers: { 'Sec-WebSocket-Version': '13' } } }
  if (!protocols.every((name) => token.test(name))) return { ...wish, refusal: { code: 400, text: 'bad WebSocket Protocol' } }
  return wish
}

/** What may be the name of a protocol, as RFC 6455 has it. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const textOf = (header: string | string[] | undefined): string => (Array.isArray(header) ? header.join(',') : (header ?? '')).trim()

/** So that a client knows that it was understood. */
const acceptOf = (key: string): string => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

/** So a side that has died without a word is found. */
const keepAliveMs = 30_000
/** How long a client may take for what is on its way when all was said. */
const lastWordsMs = 5_000
/** What listeners say at a time: a ping, or that they go. */
const usualBytes = 1024
const closeCodes = { normal: 1000, protocolError: 1002, tooLong: 1009 } as const

export class WebSocketConnection {
  readonly #socket: Socket
  /** Of the message that is being written. */
  #bytesLeft = 0
  /** The last one that was not answered yet: those before it need no answer. */
  #ping: Buffer | undefined
  #isClosing = false

  /** Says yes to a wish, on the connection that was offered with it. `roomBytes`: how much may wait for its client. */
  static accept(
    response: ServerResponse,
    wish: WebSocketWish,
    input: { readonly protocol?: string | undefined; readonly roomBytes: number },
  ) {
    const taken = offeredConnection(response)?.take()
    if (taken === undefined) throw new Error('a connection that was not offered')
    const { protocol } = input
    response.sendDate = false
    const named = protocol === undefined ? [] : ['Sec-WebSocket-Protocol', protocol]
    response.writeHead(101, ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', acceptOf(wish.key), ...named])
    response.flushHeaders()
    return new WebSocketConnection(taken.socket, taken.early, input.roomBytes)
  }

  private constructor(socket: Socket, early: Buffer, roomBytes: number) {
    this.#socket = socket
    socket.setTimeout(0).setKeepAlive(true, keepAliveMs).setNoDelay(true)
    setRoom(socket, roomBytes)
    const skimmer = new FrameSkimmer({
      onPing: (payload) => {
        this.#ping = payload
      },
      onClose: () => this.close(),
      onBroken: (why) => this.#end(closeCodes[why]),
    })
    const pauses = new ReadPauses(socket)
    socket.on('data', (chunk: Buffer) => {
      skimmer.push(chunk)
      this.#sendPong()
      // Whoever listens has little to say: thousands of frames at a time are not worth a turn of others.
      if (chunk.length > usualBytes) pauses.pause()
    })
    socket.once('end', () => socket.destroy())
    socket.on('drain', () => this.#sendPong())
    if (early.length > 0) {
      skimmer.push(early)
      this.#sendPong()
    }
    socket.resume()
  }

  /** Whether there is room for more. */
  get hasRoom(): boolean {
    return !this.#socket.writableNeedDrain
  }

  onRoom(resume: () => void): void {
    this.#socket.on('drain', resume)
  }

  /** Whether a part of a message has been written and another has not. */
  get isWithinMessage(): boolean {
    return this.#bytesLeft > 0
  }

  /** Begins a message of so many bytes, which are written then. */
  begin(kind: 'text' | 'binary', bytes: number): void {
    if (this.#bytesLeft > 0) throw new Error('a message within another')
    this.#bytesLeft = bytes
    if (!this.#isClosing) this.#socket.write(frameHead(opcodes[kind], bytes))
  }

  /** A part of the message; whether there is room for more. */
  write(part: Uint8Array): boolean {
    this.#bytesLeft -= part.length
    if (this.#isClosing) return true
    this.#socket.write(part)
    // Whoever asked within the message waits for its end, and nothing else may come for long.
    if (this.#bytesLeft === 0) this.#sendPong()
    return this.hasRoom
  }

  /** What is written meanwhile goes out together. */
  together(write: () => void): void {
    this.#socket.cork()
    try {
      write()
    } finally {
      this.#socket.uncork()
    }
  }

  /** All is said. Half a message is of no use to its client. */
  close(): void {
    if (this.#bytesLeft > 0) this.#socket.destroy()
    else this.#end(closeCodes.normal)
  }

  #end(code: number): void {
    if (this.#isClosing) return
    this.#isClosing = true
    if (this.#bytesLeft > 0) {
      this.#socket.destroy()
      return
    }
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#socket.write(Buffer.concat([frameHead(opcodes.close, payload.length), payload]))
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), lastWordsMs).unref()
  }

  /** Not within a message, and not to somebody who takes nothing. */
  #sendPong(): void {
    const ping = this.#ping
    if (ping === undefined || this.#bytesLeft > 0 || this.#isClosing || this.#socket.writableNeedDrain) return
    this.#ping = undefined
    this.#socket.write(Buffer.concat([frameHead(opcodes.pong, ping.length), ping]))
  }
}
