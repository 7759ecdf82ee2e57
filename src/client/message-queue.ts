// Messages that have come and wait until they are read, and how it ended; the one who reads waits for the next one.

export class MessageQueue {
  /** How many bytes wait. */
  bytes = 0
  private readonly waiting: Uint8Array[] = []
  private wake: () => void = () => undefined
  private hasEnded = false
  private failure: unknown

  /** How many messages wait. */
  get length(): number {
    return this.waiting.length
  }

  get isOver(): boolean {
    return this.hasEnded
  }

  /** What ended it, where it did not end well. */
  get reason(): unknown {
    return this.failure
  }

  push(message: Uint8Array): void {
    if (this.hasEnded) return
    this.waiting.push(message)
    this.bytes += message.length
    this.wake()
  }

  /** What has come before is still read. The first reason counts. */
  end(failure?: unknown): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.failure = failure
    this.wake()
  }

  /** For one reader. `onTaken`: there is room again. Throws the failure after the last message. */
  async *read(onTaken: () => void = () => undefined): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const message = this.waiting.shift()
      if (message !== undefined) {
        this.bytes -= message.length
        onTaken()
        yield message
      } else if (this.failure !== undefined) throw this.failure
      else if (this.hasEnded) return
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}
