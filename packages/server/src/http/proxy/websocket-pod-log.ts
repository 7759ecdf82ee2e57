// A pod log over WebSocket: an empty message first, then the log in binary or base64 messages, as in kube-apiserver.

import { Writable } from 'node:stream'
import { WebSocketConnection, type WebSocketHandshake } from '../../net/listen/websocket.js'
import type { Exchange } from '../pipeline/exchange.js'
import { streamBufferBytes } from '../watch/watch-limits.js'

const messageBytes = 2048

interface LogProtocol {
  readonly name: string | undefined
  readonly isBase64: boolean
}

export function logProtocolOf({ protocols }: WebSocketHandshake): LogProtocol | undefined {
  if (protocols.length === 0) return { name: undefined, isBase64: false }
  for (const name of protocols) {
    if (name.startsWith('binary.')) return { name, isBase64: false }
    if (name.startsWith('base64.binary.')) return { name, isBase64: true }
  }
  return undefined
}

export function beginLog(exchange: Exchange, { name, isBase64 }: LogProtocol): Writable {
  exchange.response.statusCode = 101
  exchange.lifecycle.notify('responseStarted', exchange)
  const options = { protocol: name, bufferBytes: streamBufferBytes }
  const messages = new LogMessages(WebSocketConnection.accept(exchange.request, exchange.response, options), isBase64)
  exchange.onClose(() => void messages.destroy())
  return messages
}

class LogMessages extends Writable {
  readonly #connection: WebSocketConnection
  readonly #isBase64: boolean
  #whenDrained: (() => void) | undefined

  constructor(connection: WebSocketConnection, isBase64: boolean) {
    super({ highWaterMark: streamBufferBytes })
    this.#connection = connection
    this.#isBase64 = isBase64
    connection.onDrain(() => {
      const resume = this.#whenDrained
      this.#whenDrained = undefined
      resume?.()
    })
    this.#send(Buffer.alloc(0))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    for (let at = 0; at < chunk.length; at += messageBytes) this.#send(chunk.subarray(at, at + messageBytes))
    if (this.#connection.isWritable) done()
    else this.#whenDrained = done
  }

  override _final(done: () => void): void {
    this.#connection.close()
    done()
  }

  #send(chunk: Buffer): void {
    const message = this.#isBase64 ? Buffer.from(chunk.toString('base64'), 'latin1') : chunk
    this.#connection.send(this.#isBase64 ? 'text' : 'binary', message)
  }
}
