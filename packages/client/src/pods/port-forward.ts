// Port forwarding over one WebSocket: a data channel and an error channel per port.

import { ConnectionError } from '../errors.js'
import { MessageQueue } from '../transport/message-queue.js'
import type { MessageSocket } from '../transport/transport.js'
import { bytesOf, channelMessage } from './stream-channels.js'

export class PortForward {
  readonly ports: readonly ForwardedPort[]
  /** Resolves when the connection closes; rejects if the connection breaks. */
  readonly ended: Promise<void>
  private readonly socket: MessageSocket

  constructor(socket: MessageSocket, ports: readonly number[]) {
    this.socket = socket
    this.ports = ports.map((port, index) => new ForwardedPort(port, (data) => socket.send(channelMessage(index * 2, data))))
    this.ended = this.read()
    this.ended.catch(() => undefined)
  }

  close(): void {
    this.socket.close()
  }

  private async read(): Promise<void> {
    let failure: unknown
    try {
      for await (const message of this.socket.messages()) {
        const [channel = 0] = message
        await this.ports[channel >> 1]?.receive(channel % 2 === 1, message.subarray(1))
      }
    } catch (thrown) {
      failure = thrown
      throw thrown
    } finally {
      for (const port of this.ports) port.end(failure)
    }
  }
}

export class ForwardedPort {
  readonly port: number
  private readonly sendData: (data: Uint8Array) => Promise<void>
  private readonly hasPortNumber = [false, false]
  private readonly queue = new MessageQueue()
  private onRead: () => void = () => undefined

  constructor(port: number, sendData: (data: Uint8Array) => Promise<void>) {
    this.port = port
    this.sendData = sendData
  }

  write(data: Uint8Array | string): Promise<void> {
    return this.sendData(bytesOf(data))
  }

  /** Yields data from the pod; throws errors of the error channel. */
  data(): AsyncGenerator<Uint8Array, void, undefined> {
    return this.queue.read(() => this.onRead())
  }

  /** Resolves when at most `maxQueuedMessages` are unread; the socket is not read until then. */
  async receive(isError: boolean, data: Uint8Array): Promise<void> {
    const stream = isError ? 1 : 0
    // The first message of each channel only repeats the port number.
    if (!this.hasPortNumber[stream]) {
      this.hasPortNumber[stream] = true
      return
    }
    if (isError) this.queue.end(new ConnectionError(`port ${this.port}: ${new TextDecoder().decode(data)}`))
    else this.queue.push(data)
    while (this.queue.length > maxQueuedMessages && !this.queue.isEnded)
      await new Promise<void>((resolve) => {
        this.onRead = resolve
      })
  }

  end(failure: unknown): void {
    this.queue.end(failure)
    this.onRead()
  }
}

const maxQueuedMessages = 64
