// Values that come in batches, one by one: what is there already costs no wait, which is what a generator would make of each.

export class OneByOne<T> implements AsyncIterableIterator<T> {
  private readonly batches: AsyncGenerator<readonly T[], void, undefined>
  private batch: readonly T[] = []
  private at = 0
  private reading: Promise<IteratorResult<T, void>> | undefined
  private readonly stop: () => void

  /** `stop` ends what the batches wait for: a generator that waits hears only then that nobody wants more. */
  constructor(batches: AsyncGenerator<readonly T[], void, undefined>, stop: () => void = () => undefined) {
    this.batches = batches
    this.stop = stop
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.reading === undefined && this.at < this.batch.length) {
      return Promise.resolve({ value: this.batch[this.at++] as T, done: false })
    }
    // Who asks before the one before was answered is answered after it.
    const before = this.reading
    const reading: Promise<IteratorResult<T, void>> = (before === undefined ? this.read() : before.then(() => this.read())).finally(() => {
      if (this.reading === reading) this.reading = undefined
    })
    this.reading = reading
    return reading
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.batch = []
    this.stop()
    await this.batches.return()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  private async read(): Promise<IteratorResult<T, void>> {
    while (this.at >= this.batch.length) {
      const { value, done } = await this.batches.next()
      if (done === true) return { value: undefined, done: true }
      this.batch = value
      this.at = 0
    }
    return { value: this.batch[this.at++] as T, done: false }
  }
}
