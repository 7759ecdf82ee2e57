// Messages that have come and wait until they are read, and how it ended; the one who reads waits for the next one.

export class MessageQueue {
  /** How many bytes wait. */
  bytes = 0
  /** Those before `first` were taken: to take the first of a long array away would move all others, each time. */
  private waiting: (Uint8Array | undefined)[] = []
  private first = 0
  private wake: () => void = () => undefined
  private hasEnded = false
  private failure: unknown

  /** How many messages wait. */
  get length(): number {
    return this.waiting.length - this.first
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
      const message = this.take()
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

  private take(): Uint8Array | undefined {
    const message = this.waiting[this.first]
    if (message === undefined) return undefined
    this.waiting[this.first++] = undefined
    if (this.first * 2 >= this.waiting.length) {
      this.waiting = this.waiting.slice(this.first)
      this.first = 0
    }
    return message
  }
}
