// Ports of a pod: for each a stream of bytes both ways and one of errors, all in one connection.

import { bytesOf, channelMessage } from './channels.js'
import { ConnectionError } from './errors.js'
import { MessageQueue } from './message-queue.js'
import type { MessageSocket } from './transport.js'

export class PortForward {
  readonly ports: readonly ForwardedPort[]
  /** Resolves when the connection is closed; rejects when it breaks. */
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
        await this.ports[channel >> 1]?.take(channel % 2 === 1, message.subarray(1))
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
  private readonly sendOn: (data: Uint8Array) => Promise<void>
  private readonly seen = [false, false]
  private readonly queue = new MessageQueue()
  private taken: () => void = () => undefined

  constructor(port: number, sendOn: (data: Uint8Array) => Promise<void>) {
    this.port = port
    this.sendOn = sendOn
  }

  /** Resolves when there is room for more. */
  write(data: Uint8Array | string): Promise<void> {
    return this.sendOn(bytesOf(data))
  }

  /** What comes from the pod; throws what the pod's side says went wrong. */
  data(): AsyncGenerator<Uint8Array, void, undefined> {
    return this.queue.read(() => this.taken())
  }

  /** Resolves when the reader has room: what nobody reads is not fetched. */
  async take(isError: boolean, data: Uint8Array): Promise<void> {
    const stream = isError ? 1 : 0
    // The first message of each stream only repeats the number of the port.
    if (!this.seen[stream]) {
      this.seen[stream] = true
      return
    }
    if (isError) this.queue.end(new ConnectionError(`port ${this.port}: ${new TextDecoder().decode(data)}`))
    else this.queue.push(data)
    while (this.queue.length > mostWaiting && !this.queue.isOver)
      await new Promise<void>((resolve) => {
        this.taken = resolve
      })
  }

  end(failure: unknown): void {
    this.queue.end(failure)
    this.taken()
  }
}

const mostWaiting = 64
