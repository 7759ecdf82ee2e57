// A small client of WebSocket that shows every frame as it came.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import type { Access } from './api-client.js'
import { until } from './fixtures.js'
import { trusting } from './trust.js'

export interface Frame {
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

/** What the key above is answered with, as RFC 6455 has it. */
export const wsAccept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

export class WebSocketClient {
  readonly frames: Frame[] = []
  readonly answer: IncomingMessage
  readonly socket: Socket
  isClosed = false
  #rest = Buffer.alloc(0)

  private constructor(answer: IncomingMessage, socket: Socket, head: Buffer) {
    this.answer = answer
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
    })
    this.#read(head)
  }

  /** The client, or the answer of a server that does not want to. */
  static async open(
    access: Access,
    path: string,
    headers: Readonly<Record<string, string>> = wsHeaders,
  ): Promise<WebSocketClient | IncomingMessage> {
    const authorization = access.token === undefined ? {} : { Authorization: `Bearer ${access.token}` }
    const sent = request(new URL(path, access.url), { ...trusting(access.ca), agent: false, headers: { ...authorization, ...headers } })
    sent.end()
    return await Promise.race([
      once(sent, 'upgrade').then(
        ([answer, socket, head]) => new WebSocketClient(answer as IncomingMessage, socket as Socket, head as Buffer),
      ),
      once(sent, 'response').then(([answer]) => answer as IncomingMessage),
    ])
  }

  /** One whose server must want to. */
  static async connect(access: Access, path: string, headers?: Readonly<Record<string, string>>): Promise<WebSocketClient> {
    const opened = await WebSocketClient.open(access, path, headers)
    if (opened instanceof WebSocketClient) return opened
    throw new Error(`no WebSocket: ${opened.statusCode}`)
  }

  of(...wanted: readonly number[]): readonly Frame[] {
    return this.frames.filter(({ opcode }) => wanted.includes(opcode))
  }

  async until(isEnough: (client: WebSocketClient) => boolean): Promise<void> {
    await until(
      async () => isEnough(this),
      (is) => is,
    )
  }

  /** Masked with nothing but zeros, which is a mask, too. */
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
      this.frames.push({ opcode: (bytes[0] as number) & 0x0f, payload: Buffer.from(bytes.subarray(start, start + length)) })
      this.#rest = bytes.subarray(start + length)
    }
  }
}
