// A watch over WebSocket: each event is a message. The bytes of events are those that other watches share; only what stands around them differs.

import type { ServerResponse } from 'node:http'
import { WebSocketConnection, type WebSocketWish } from '../net/web-socket.js'
import type { Exchange } from './exchange.js'
import { connectionOf } from './respond.js'
import { lastWordsMs, type Unsent, type WatchWire } from './watch-connection.js'

/** Whether a watch may be told this way; the reason where it may not. Scripts must say where they come from, as the reference has it. */
export function refusalOfWatch({ refusal, origin, protocols }: WebSocketWish): WebSocketWish['refusal'] {
  if (refusal !== undefined) return refusal
  if (origin === '' || !(origin.startsWith('/') || URL.canParse(origin))) return { code: 403, text: 'null origin' }
  // One is agreed to, whatever it is called; among several there is nothing to choose by.
  return protocols.length > 1 ? { code: 400, text: 'bad WebSocket Protocol' } : undefined
}

export class WebSocketWatch implements WatchWire {
  readonly #exchange: Exchange
  readonly #connection: WebSocketConnection
  readonly #pieceBytes: number
  readonly #isText: boolean
  /** Events of which not all was written, and where the next part of them begins. */
  #rest: Uint8Array | undefined
  #at = 0
  /** Where the event ends that is being written. */
  #end = 0

  constructor(exchange: Exchange, wish: WebSocketWish, input: { readonly roomBytes: number; readonly isText: boolean }) {
    this.#exchange = exchange
    this.#pieceBytes = input.roomBytes
    this.#isText = input.isText
    exchange.response.statusCode = 101
    exchange.lifecycle.tell('responseStarted', exchange)
    const [protocol] = wish.protocols
    this.#connection = WebSocketConnection.accept(exchange.response as ServerResponse, wish, { protocol, roomBytes: input.roomBytes })
  }

  get isWithinEvent(): boolean {
    return this.#rest !== undefined
  }

  write(bytes: Uint8Array): boolean {
    this.#rest = bytes
    this.#at = 0
    this.#end = 0
    return this.goOn()
  }

  writeWhole(bytes: Uint8Array): boolean {
    return this.write(bytes)
  }

  goOn(): boolean {
    let { hasRoom } = this.#connection
    this.#connection.together(() => {
      while (this.#rest !== undefined && hasRoom) hasRoom = this.#writePart(this.#rest)
    })
    return hasRoom
  }

  onRoom(resume: () => void): void {
    this.#connection.onRoom(resume)
  }

  *unsent(): Generator<Unsent> {
    if (this.#rest !== undefined) yield [this.#rest.buffer, this.#rest.length]
    const found = connectionOf(this.#exchange)
    if (found !== undefined) yield [found.key, found.unsentBytes]
  }

  finish(): void {
    this.#connection.close()
  }

  end(): void {
    this.#rest = undefined
    this.#connection.close()
    setTimeout(() => this.#exchange.cut(), lastWordsMs).unref()
  }

  #writePart(bytes: Uint8Array): boolean {
    if (this.#at === this.#end) this.#beginEvent(bytes)
    const end = Math.min(this.#end, this.#at + this.#pieceBytes)
    const hasRoom = this.#connection.write(bytes.subarray(this.#at, end))
    this.#at = end
    if (end >= bytes.length) this.#rest = undefined
    return hasRoom
  }

  /** In a stream, lines of JSON end with themselves; what is binary has its length in front, which a message knows without. */
  #beginEvent(bytes: Uint8Array): void {
    if (this.#isText) {
      const end = bytes.indexOf(lineEnd, this.#at)
      this.#end = end < 0 ? bytes.length : end + 1
    } else {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      this.#at += lengthBytes
      this.#end = this.#at + view.getUint32(this.#at - lengthBytes)
    }
    this.#connection.begin(this.#isText ? 'text' : 'binary', this.#end - this.#at)
  }
}

const lineEnd = 10
const lengthBytes = 4
