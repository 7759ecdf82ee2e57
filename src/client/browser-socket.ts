// Messages over the WebSocket that browsers have. It cannot be asked to wait: a server that sends more than is read is cut off.

import { ConnectionError } from './errors.js'
import { MessageQueue } from './message-queue.js'
import type { MessageSocket } from './transport.js'

/** The part of the built-in WebSocket that is used. */
export interface BuiltInSocket {
  binaryType: string
  readonly protocol: string
  readonly bufferedAmount: number
  onopen: (() => void) | null
  onerror: (() => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string; readonly wasClean: boolean }) => void) | null
  onmessage: ((event: { readonly data: ArrayBuffer | string }) => void) | null
  send(data: Uint8Array): void
  close(): void
}

/** What may wait to be sent before the caller is asked to wait. */
const mostBuffered = 1024 * 1024
/** What may wait to be read, in bytes and in messages, which take memory even when they are empty. */
const mostWaitingBytes = 32 * 1024 * 1024
const mostWaiting = 64 * 1024

export class BrowserMessageSocket implements MessageSocket {
  readonly protocol: string
  private readonly socket: BuiltInSocket
  private readonly queue = new MessageQueue()

  /** `onClose`: the connection is no more. */
  constructor(socket: BuiltInSocket, onClose: () => void = () => undefined) {
    this.socket = socket
    this.protocol = socket.protocol
    socket.onmessage = ({ data }) => this.take(typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data))
    socket.onclose = ({ wasClean, code, reason }) => {
      this.queue.end(
        wasClean ? undefined : new ConnectionError(`the connection was cut off (${code}${reason === '' ? '' : `: ${reason}`})`),
      )
      onClose()
    }
  }

  async send(message: Uint8Array): Promise<void> {
    if (this.queue.isOver) throw this.queue.reason ?? new ConnectionError('the connection is closed')
    this.socket.send(message)
    while (this.socket.bufferedAmount > mostBuffered && !this.queue.isOver) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.queue.read()
    } finally {
      this.close()
    }
  }

  close(): void {
    this.socket.close()
  }

  /** Closes it for a reason, which whoever reads is told. */
  cutOff(reason: unknown): void {
    this.queue.end(reason)
    this.socket.close()
  }

  private take(message: Uint8Array): void {
    if (this.queue.bytes + message.length <= mostWaitingBytes && this.queue.length < mostWaiting) this.queue.push(message)
    else this.cutOff(new ConnectionError('the connection was closed: more came than was read'))
  }
}
