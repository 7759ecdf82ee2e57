// Queue of received messages for one reader, with end and failure.

export class MessageQueue {
  bytes = 0
  /** Messages before `first` are consumed: shifting a long array on each read would be quadratic. */
  private messages: (Uint8Array | undefined)[] = []
  private first = 0
  private wake: () => void = () => undefined
  private hasEnded = false
  private failure: unknown

  get length(): number {
    return this.messages.length - this.first
  }

  get isEnded(): boolean {
    return this.hasEnded
  }

  get reason(): unknown {
    return this.failure
  }

  push(message: Uint8Array): void {
    if (this.hasEnded) return
    this.messages.push(message)
    this.bytes += message.length
    this.wake()
  }

  /** Queued messages remain readable. Later calls are ignored. */
  end(failure?: unknown): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.failure = failure
    this.wake()
  }

  /** Calls `onTaken` after each message leaves the queue. Throws the failure after the last message. */
  async *read(onTaken: () => void = () => undefined): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const message = this.shift()
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

  private shift(): Uint8Array | undefined {
    const message = this.messages[this.first]
    if (message === undefined) return undefined
    this.messages[this.first++] = undefined
    if (this.first * 2 >= this.messages.length) {
      this.messages = this.messages.slice(this.first)
      this.first = 0
    }
    return message
  }
}
