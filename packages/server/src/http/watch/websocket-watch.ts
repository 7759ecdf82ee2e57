// A watch over WebSocket: one message per event, with the event bytes that all watches share.

import { WebSocketConnection, type WebSocketHandshake } from '../../net/listen/websocket.js'
import type { Exchange } from '../pipeline/exchange.js'
import { connectionOf } from '../responses/send-response.js'
import { drainTimeoutMs, type Unsent, type WatchOutput } from './watch-connection.js'

/** The response to an invalid handshake; undefined if valid. As in kube-apiserver, an Origin header is required. */
export function watchRefusal({ refusal, origin, protocols }: WebSocketHandshake): WebSocketHandshake['refusal'] {
  if (refusal !== undefined) return refusal
  if (origin === '' || !(origin.startsWith('/') || URL.canParse(origin))) return { code: 403, text: 'null origin' }
  // A single subprotocol is accepted, whatever its name.
  return protocols.length > 1 ? { code: 400, text: 'bad WebSocket Protocol' } : undefined
}

export class WebSocketWatch implements WatchOutput {
  readonly #exchange: Exchange
  readonly #connection: WebSocketConnection
  readonly #chunkBytes: number
  readonly #isText: boolean
  #rest: Uint8Array | undefined
  #offset = 0
  #eventEnd = 0

  constructor(exchange: Exchange, handshake: WebSocketHandshake, input: { readonly bufferBytes: number; readonly isText: boolean }) {
    this.#exchange = exchange
    this.#chunkBytes = input.bufferBytes
    this.#isText = input.isText
    exchange.response.statusCode = 101
    exchange.lifecycle.notify('responseStarted', exchange)
    const [protocol] = handshake.protocols
    this.#connection = WebSocketConnection.accept(exchange.request, exchange.response, { protocol, bufferBytes: input.bufferBytes })
  }

  get isWithinEvent(): boolean {
    return this.#rest !== undefined
  }

  write(bytes: Uint8Array): boolean {
    this.#rest = bytes
    this.#offset = 0
    this.#eventEnd = 0
    return this.writeRest()
  }

  writeWhole(bytes: Uint8Array): boolean {
    return this.write(bytes)
  }

  writeRest(): boolean {
    let { isWritable } = this.#connection
    while (this.#rest !== undefined && isWritable) isWritable = this.#writeFragment(this.#rest)
    return isWritable
  }

  onDrain(resume: () => void): void {
    this.#connection.onDrain(resume)
  }

  *unsent(): Generator<Unsent> {
    if (this.#rest !== undefined) yield [this.#rest.buffer, this.#rest.length]
    const found = connectionOf(this.#exchange)
    if (found !== undefined) yield [found.key, found.unsentBytes]
  }

  finish(): void {
    this.#connection.close(this.#offset < this.#eventEnd)
  }

  abandon(): void {
    this.#connection.close(this.#offset < this.#eventEnd)
    this.#rest = undefined
    setTimeout(() => this.#exchange.cut(), drainTimeoutMs).unref()
  }

  #writeFragment(bytes: Uint8Array): boolean {
    if (this.#offset === this.#eventEnd) this.#beginEvent(bytes)
    const end = Math.min(this.#eventEnd, this.#offset + this.#chunkBytes)
    const isWritable = this.#connection.send(this.#isText ? 'text' : 'binary', bytes.subarray(this.#offset, end), end === this.#eventEnd)
    this.#offset = end
    if (end >= bytes.length) this.#rest = undefined
    return isWritable
  }

  /** Finds the end of an event: of JSON, its newline; of Protobuf, by its length prefix, which is not sent. */
  #beginEvent(bytes: Uint8Array): void {
    if (this.#isText) {
      const end = bytes.indexOf(newline, this.#offset)
      this.#eventEnd = end < 0 ? bytes.length : end + 1
    } else {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      this.#offset += lengthPrefixBytes
      this.#eventEnd = this.#offset + view.getUint32(this.#offset - lengthPrefixBytes)
    }
  }
}

const newline = 0x0a
const lengthPrefixBytes = 4
