// A WebSocket client that records messages and control frames, and can send broken frames.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import type { Access } from '../api-client.js'
import { until } from '../fixtures.js'
import { secureContextFor } from '../secure-context.js'

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
}

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export const wsHeaders = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  Origin: 'https://example.com',
}

/** Sec-WebSocket-Accept of the key above (RFC 6455). */
export const wsAccept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

export class WebSocketClient {
  readonly frames: Frame[] = []
  readonly response: IncomingMessage
  readonly socket: Socket
  isClosed = false
  #rest = Buffer.alloc(0)
  #message: { readonly opcode: number; readonly parts: readonly Buffer[] } = { opcode: 0, parts: [] }

  private constructor(response: IncomingMessage, socket: Socket, head: Buffer) {
    this.response = response
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
    })
    this.#read(head)
  }

  /** Resolves with the client, or with the response that rejects the handshake. */
  static async open(
    access: Access,
    path: string,
    headers: Readonly<Record<string, string>> = wsHeaders,
  ): Promise<WebSocketClient | IncomingMessage> {
    const authorization = access.token === undefined ? {} : { Authorization: `Bearer ${access.token}` }
    const sent = request(new URL(path, access.url), {
      ...secureContextFor(access.ca),
      agent: false,
      headers: { ...authorization, ...headers },
    })
    sent.end()
    return await Promise.race([
      once(sent, 'upgrade').then(
        ([response, socket, head]) => new WebSocketClient(response as IncomingMessage, socket as Socket, head as Buffer),
      ),
      once(sent, 'response').then(([response]) => response as IncomingMessage),
    ])
  }

  /** Connects; fails if the handshake is rejected. */
  static async connect(access: Access, path: string, headers?: Readonly<Record<string, string>>): Promise<WebSocketClient> {
    const opened = await WebSocketClient.open(access, path, headers)
    if (opened instanceof WebSocketClient) return opened
    throw new Error(`no WebSocket: ${opened.statusCode}`)
  }

  /** Received frames with one of the opcodes. */
  framesOf(...selected: readonly number[]): readonly Frame[] {
    return this.frames.filter(({ opcode }) => selected.includes(opcode))
  }

  async until(isEnough: (client: WebSocketClient) => boolean): Promise<void> {
    await until(
      async () => isEnough(this),
      (isDone) => isDone,
    )
  }

  /** Masked with zeros. */
  send(opcode: number, payload: Buffer = Buffer.alloc(0)): void {
    const extra =
      payload.length < 126 ? Buffer.of(0x80 | payload.length) : Buffer.of(0x80 | 126, payload.length >> 8, payload.length & 0xff)
    this.socket.write(Buffer.concat([Buffer.of(0x80 | opcode), extra, Buffer.alloc(4), payload]))
  }

  close(): void {
    this.socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const bytes = this.#rest
      if (bytes.length < 2) return
      const short = bytes[1] as number
      const start = short < 126 ? 2 : short === 126 ? 4 : 10
      if (bytes.length < start) return
      const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
      if (bytes.length < start + length) return
      this.#take(bytes[0] as number, Buffer.from(bytes.subarray(start, start + length)))
      this.#rest = bytes.subarray(start + length)
    }
  }

  /** Joins fragments of a message. */
  #take(first: number, payload: Buffer): void {
    const opcode = first & 0x0f
    const isWhole = (first & 0x80) !== 0
    if (opcode !== 0 && isWhole) {
      this.frames.push({ opcode, payload })
      return
    }
    const { opcode: kind, parts } = opcode === 0 ? this.#message : { opcode, parts: [] }
    this.#message = { opcode: kind, parts: [...parts, payload] }
    if (isWhole) this.frames.push({ opcode: kind, payload: Buffer.concat(this.#message.parts) })
  }
}
