// Reads the first bytes of a conversation one answer at a time, before the socket is handed on.

import type { Socket } from 'node:net'

export class SocketReader {
  private readonly socket: Socket
  private readonly most: number
  private kept = Buffer.alloc(0)
  private wake: () => void = () => undefined
  private failure: Error | undefined

  constructor(socket: Socket, most: number) {
    this.socket = socket
    this.most = most
    socket.on('data', this.take)
    socket.on('error', this.fail)
    socket.on('close', this.end)
  }

  async read(length: number): Promise<Buffer> {
    await this.until(() => (this.kept.length >= length ? length : -1))
    return this.cut(length)
  }

  /** Up to and with the mark. */
  async readUntil(mark: string): Promise<string> {
    const end = await this.until(() => this.kept.indexOf(mark))
    return this.cut(end + mark.length).toString('latin1')
  }

  /** From now on the socket is somebody else's, who speaks first: there can be nothing left to read. */
  release(): void {
    this.socket.off('data', this.take)
    this.socket.off('error', this.fail)
    this.socket.off('close', this.end)
    if (this.kept.length > 0) throw new Error('it goes on talking')
  }

  private cut(length: number): Buffer {
    const taken = this.kept.subarray(0, length)
    this.kept = this.kept.subarray(length)
    return taken
  }

  private async until(find: () => number): Promise<number> {
    for (;;) {
      const found = find()
      if (found >= 0) return found
      if (this.failure !== undefined) throw this.failure
      if (this.kept.length > this.most) throw new Error('it says too much')
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  private readonly take = (chunk: Buffer): void => {
    this.kept = Buffer.concat([this.kept, chunk])
    this.wake()
  }

  private readonly fail = (error: Error): void => {
    this.failure ??= error
    this.wake()
  }

  private readonly end = (): void => this.fail(new Error('it closed the connection'))
}
