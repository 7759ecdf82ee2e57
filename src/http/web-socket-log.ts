// A log over WebSocket: its bytes in short messages, as they are or in base64, behind an empty one that tells that it begins.

import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { streamRoomBytes } from '../net/socket-room.js'
import { WebSocketConnection, type WebSocketWish } from '../net/web-socket.js'
import type { Exchange } from './exchange.js'

/** What a message holds at most. */
const messageBytes = 2048

/** The name that is agreed to, undefined where none was offered; and what it means. */
export interface LogProtocol {
  readonly name: string | undefined
  readonly isBase64: boolean
}

/** The first that is known of those that were offered, whichever vocabulary they are from; undefined where none is. */
export function logProtocolOf({ protocols }: WebSocketWish): LogProtocol | undefined {
  if (protocols.length === 0) return { name: undefined, isBase64: false }
  for (const name of protocols) {
    if (name.startsWith('binary.')) return { name, isBase64: false }
    if (name.startsWith('base64.binary.')) return { name, isBase64: true }
  }
  return undefined
}

/** Grants a wish; what is written goes to the client. */
export function beginLog(exchange: Exchange, wish: WebSocketWish, { name, isBase64 }: LogProtocol): Writable {
  exchange.response.statusCode = 101
  exchange.lifecycle.tell('responseStarted', exchange)
  const options = { protocol: name, roomBytes: streamRoomBytes }
  const messages = new LogMessages(WebSocketConnection.accept(exchange.response as ServerResponse, wish, options), isBase64)
  exchange.onLeave(() => void messages.destroy())
  return messages
}

class LogMessages extends Writable {
  readonly #connection: WebSocketConnection
  readonly #isBase64: boolean
  #whenRoom: (() => void) | undefined

  constructor(connection: WebSocketConnection, isBase64: boolean) {
    super({ highWaterMark: streamRoomBytes })
    this.#connection = connection
    this.#isBase64 = isBase64
    connection.onRoom(() => {
      const goOn = this.#whenRoom
      this.#whenRoom = undefined
      goOn?.()
    })
    this.#send(Buffer.alloc(0))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#connection.together(() => {
      for (let at = 0; at < chunk.length; at += messageBytes) this.#send(chunk.subarray(at, at + messageBytes))
    })
    if (this.#connection.hasRoom) done()
    else this.#whenRoom = done
  }

  override _final(done: () => void): void {
    this.#connection.close()
    done()
  }

  #send(part: Buffer): void {
    const message = this.#isBase64 ? Buffer.from(part.toString('base64'), 'latin1') : part
    this.#connection.begin(this.#isBase64 ? 'text' : 'binary', message.length)
    if (message.length > 0) this.#connection.write(message)
  }
}
