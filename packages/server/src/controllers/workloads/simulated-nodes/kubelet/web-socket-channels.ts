// Channels on a WebSocket, as in exec and port forwarding: the first byte of each message is the number of its channel.

import type { IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { acceptWebSocket } from '../../../../net/listen/websocket.js'

const maxMessageBytes = 1 << 20
/** Number of the channel that ends another one, in version 5 of the subprotocol. */
const closeChannel = 255

class Channel extends Duplex {
  readonly #send: (bytes: Buffer, done: (error?: Error | null) => void) => void
  readonly #onRead: () => void
  isFull = false

  constructor(send: (bytes: Buffer, done: (error?: Error | null) => void) => void, onRead: () => void) {
    super()
    this.#send = send
    this.#onRead = onRead
    this.on('error', () => undefined)
  }

  /** Returns false if the channel must be read first. */
  receive(bytes: Buffer): boolean {
    this.isFull = !this.push(bytes)
    return !this.isFull
  }

  override _read(): void {
    this.isFull = false
    this.#onRead()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#send(chunk, done)
  }
}

export class ChannelSocket {
  readonly protocol: string
  readonly #socket: WebSocket
  readonly #channels = new Map<number, Channel>()

  static accept(request: IncomingMessage, socket: Duplex, early: Buffer, protocol: string): ChannelSocket {
    const accepted = acceptWebSocket(request, { socket, early }, { protocol: protocol || undefined, maxPayload: maxMessageBytes })
    return new ChannelSocket(accepted, protocol)
  }

  private constructor(socket: WebSocket, protocol: string) {
    this.#socket = socket
    this.protocol = protocol
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const channel of this.#channels.values()) channel.destroy()
    })
    socket.on('message', (data: Buffer) => this.#receive(data))
  }

  get #isBase64(): boolean {
    return this.protocol.includes('base64.')
  }

  open(number: number): Channel {
    const channel = new Channel(
      (bytes, done) => this.#send(number, bytes, done),
      () => this.#pauseOrResume(),
    )
    this.#channels.set(number, channel)
    channel.once('close', () => this.#pauseOrResume())
    return channel
  }

  close(): void {
    this.#socket.close(1000)
  }

  /** Reads nothing while a channel is full, also if the client sends to other channels. */
  #pauseOrResume(): void {
    if ([...this.#channels.values()].some(({ isFull, destroyed }) => isFull && !destroyed)) this.#socket.pause()
    else this.#socket.resume()
  }

  #send(number: number, bytes: Buffer, done: (error?: Error | null) => void): void {
    const message = this.#isBase64 ? Buffer.from(`${number}${bytes.toString('base64')}`) : Buffer.concat([Buffer.from([number]), bytes])
    this.#socket.send(message, { binary: !this.#isBase64 }, done)
  }

  #receive(data: Buffer): void {
    if (data.length === 0) return
    const number = this.#isBase64 ? Number(String.fromCharCode(data[0] ?? 0)) : data[0]
    const bytes = this.#isBase64 ? Buffer.from(data.toString('latin1', 1), 'base64') : data.subarray(1)
    const channel = this.#channels.get(number === closeChannel ? (bytes[0] ?? closeChannel) : (number ?? closeChannel))
    if (channel === undefined || channel.readableEnded || channel.destroyed) return
    if (number === closeChannel) channel.push(null)
    else if (bytes.length > 0 && !channel.receive(bytes)) this.#pauseOrResume()
  }
}
