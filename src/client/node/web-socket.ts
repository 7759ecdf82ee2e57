// The client's side of WebSocket (RFC 6455) over a request of Node's HTTP: binary messages both ways, with back-pressure.

import { createHash, randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ConnectionError, ProtocolError, type StatusAnswer, StatusError } from '../errors.js'
import { MessageQueue } from '../message-queue.js'
import { connectionError } from '../requester.js'
import type { MessageSocket } from '../transport.js'
import { FrameReader, opcodes, writeFrame } from './web-socket-frames.js'

const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

type Headers = { readonly [name: string]: string | readonly string[] }

/** What callers are told of what went wrong. */
type Explain = (thrown: unknown) => unknown

/** Sends the request that `start` makes with the headers it is given, and resolves when the server has changed the protocol. */
export function upgradeToSocket(
  protocols: readonly string[],
  start: (headers: Headers) => ClientRequest,
  onOpen: (socket: Socket) => void,
  explain: Explain = (thrown) => connectionError(thrown, 'the connection broke off', undefined),
): Promise<MessageSocket> {
  const key = randomBytes(16).toString('base64')
  return new Promise((resolve, reject) => {
    const sent = start({
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      ...(protocols.length === 0 ? {} : { 'sec-websocket-protocol': protocols.join(', ') }),
    })
    sent.on('error', reject)
    sent.on('response', (message) => refusalOf(message).then(reject, reject))
    sent.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
      const expected = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64')
      if (message.headers['sec-websocket-accept'] !== expected) {
        socket.destroy()
        reject(new ProtocolError('the server does not speak WebSocket'))
        return
      }
      const protocol = message.headers['sec-websocket-protocol'] ?? ''
      onOpen(socket)
      resolve(new NodeMessageSocket(socket, head, protocol, explain))
    })
    sent.end()
  })
}

/** An ordinary answer: the server says why there is no connection. */
async function refusalOf(message: IncomingMessage): Promise<StatusError> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) if (text.length < 100_000) text += chunk
  const code = message.statusCode ?? 500
  try {
    const status = JSON.parse(text) as StatusAnswer
    if (status.kind === 'Status') return new StatusError(status, code)
  } catch {
    // A text, which is told as it is.
  }
  return new StatusError({ code, message: text.trim().slice(0, 1000) || `the server answered ${code} instead of a connection` }, code)
}

/** The other side stops sending when so many messages wait to be read. */
const mostWaiting = 64

class NodeMessageSocket implements MessageSocket {
  readonly protocol: string
  private readonly explain: Explain
  private readonly socket: Socket
  private readonly reader: FrameReader
  private readonly queue = new MessageQueue()
  private hasClosed = false
  /** The last one that there was no room for. The pings before it need no answer. */
  private unsentPong: Buffer | undefined

  constructor(socket: Socket, head: Buffer, protocol: string, explain: Explain) {
    this.explain = explain
    this.socket = socket
    this.protocol = protocol
    this.reader = new FrameReader((opcode, payload) => this.take(opcode, payload))
    socket.setNoDelay(true)
    socket.on('data', this.feed)
    socket.on('drain', () => {
      const pong = this.unsentPong
      this.unsentPong = undefined
      if (pong !== undefined && !this.queue.isOver && !this.hasClosed) socket.write(pong)
    })
    socket.on('error', (error) => this.queue.end(explain(error)))
    socket.on('close', () => this.queue.end(this.hasClosed ? undefined : explain(new Error('the connection was cut off'))))
    if (head.length > 0) this.feed(head)
  }

  send(message: Uint8Array): Promise<void> {
    return this.write(opcodes.binary, message)
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.queue.read(this.makeRoom)
    } finally {
      this.close()
    }
  }

  close(): void {
    if (this.hasClosed) return
    this.hasClosed = true
    // 1000: all is well.
    if (!this.socket.destroyed) this.socket.end(writeFrame(opcodes.close, Uint8Array.of(3, 232)))
    setTimeout(() => this.socket.destroy(), 1000).unref()
    this.socket.resume()
    this.queue.end()
  }

  private write(opcode: number, payload: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.queue.isOver || this.hasClosed) return reject(this.queue.reason ?? new ConnectionError('the connection is closed'))
      if (this.socket.write(writeFrame(opcode, payload))) return resolve()
      const done = (): void => {
        this.socket.off('drain', done)
        this.socket.off('close', done)
        resolve()
      }
      this.socket.once('drain', done)
      this.socket.once('close', done)
    })
  }

  private readonly feed = (chunk: Buffer): void => {
    try {
      this.reader.feed(chunk)
    } catch (error) {
      this.queue.end(this.explain(error))
      this.socket.destroy()
    }
  }

  private take(opcode: number, payload: Uint8Array): void {
    if (opcode === opcodes.ping) this.answerPing(payload)
    else if (opcode === opcodes.close) {
      this.close()
    } else if (opcode !== opcodes.pong && !this.hasClosed) {
      this.queue.push(payload)
      if (this.queue.length >= mostWaiting) this.socket.pause()
    }
  }

  private answerPing(payload: Uint8Array): void {
    if (this.queue.isOver || this.hasClosed) return
    const pong = writeFrame(opcodes.pong, payload)
    if (this.socket.writableNeedDrain) this.unsentPong = pong
    else this.socket.write(pong)
  }

  private readonly makeRoom = (): void => {
    if (this.queue.length < mostWaiting) this.socket.resume()
  }
}
