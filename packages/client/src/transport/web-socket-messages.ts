// MessageSocket over a WebSocket. Pauses `ws` if the reader lags; closes browser WebSockets, which cannot pause.

import { ConnectionError } from '../errors.js'
import { MessageQueue } from './message-queue.js'
import type { MessageSocket } from './transport.js'

/** Members of WebSocket in use; `pause` and `resume` only exist in `ws`. */
export interface WebSocketLike {
  binaryType: string
  readonly protocol: string
  readonly bufferedAmount: number
  onopen: (() => void) | null
  onerror: ((event: { readonly error?: unknown }) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string; readonly wasClean: boolean }) => void) | null
  onmessage: ((event: { readonly data: ArrayBuffer | string }) => void) | null
  send(data: Uint8Array): void
  close(): void
  pause?(): void
  resume?(): void
}

interface MessageSocketOptions {
  readonly onClose?: () => void
  readonly explain?: (thrown: unknown) => unknown
}

/** Unsent bytes above which `send` waits. */
const maxBufferedBytes = 1024 * 1024
/** Limits of unread messages if the socket cannot pause. Empty messages take memory, too. */
const maxQueuedBytes = 32 * 1024 * 1024
const maxQueuedMessages = 64 * 1024
/** Unread messages at which the socket pauses. */
const pauseAtMessages = 64

export class WebSocketMessages implements MessageSocket {
  readonly protocol: string
  private readonly socket: WebSocketLike
  private readonly queue = new MessageQueue()

  constructor(socket: WebSocketLike, { onClose = () => undefined, explain = (thrown) => thrown }: MessageSocketOptions = {}) {
    this.socket = socket
    this.protocol = socket.protocol
    socket.onmessage = ({ data }) => this.receive(typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data))
    socket.onerror = ({ error }) => {
      if (error !== undefined) this.queue.end(explain(error))
    }
    socket.onclose = ({ wasClean, code, reason }) => {
      const message = `the connection broke off (${code}${reason === '' ? '' : `: ${reason}`})`
      this.queue.end(wasClean ? undefined : explain(new ConnectionError(message)))
      onClose()
    }
  }

  async send(message: Uint8Array): Promise<void> {
    if (this.queue.isEnded) throw this.queue.reason ?? new ConnectionError('the connection is closed')
    this.socket.send(message)
    while (this.socket.bufferedAmount > maxBufferedBytes && !this.queue.isEnded) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.queue.read(() => {
        if (this.queue.length < pauseAtMessages) this.socket.resume?.()
      })
    } finally {
      this.close()
    }
  }

  close(): void {
    this.abort(undefined)
  }

  abort(reason: unknown): void {
    this.queue.end(reason)
    this.socket.close()
  }

  private receive(message: Uint8Array): void {
    const { socket, queue } = this
    const isOverLimit = queue.bytes + message.length > maxQueuedBytes || queue.length >= maxQueuedMessages
    if (isOverLimit && socket.pause === undefined)
      this.abort(new ConnectionError('the connection was closed: messages arrived faster than they were read'))
    else queue.push(message)
    if (queue.length >= pauseAtMessages || isOverLimit) socket.pause?.()
  }
}
