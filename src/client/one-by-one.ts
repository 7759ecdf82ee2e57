// Values that come in batches, one by one: what is there already costs no wait, which is what a generator would make of each.

/** Values as they come: for a loop (`for await`), or for a function, which costs less where there are many. */
export interface ValueStream<T> extends AsyncIterableIterator<T> {
  /**
   * Calls `take` with each value, and waits for its answer where that is a promise. `false` is enough of them; so is an error, which is thrown to
   * the caller. Resolves when there are no more.
   */
  each(take: (value: T) => unknown): Promise<void>
}

export class OneByOne<T> implements ValueStream<T> {
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

  /** Without a promise for each of them, which is what a loop waits for. */
  async each(take: (value: T) => unknown): Promise<void> {
    try {
      for (let next = await this.next(); next.done !== true; next = await this.next()) {
        for (let { value } = next; ; value = this.batch[this.at++] as T) {
          const answer = take(value)
          if (answer === false || (isPromise(answer) && (await answer) === false)) return
          if (this.at >= this.batch.length) break
        }
      }
    } finally {
      await this.return()
    }
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

const isPromise = (answer: unknown): answer is PromiseLike<unknown> =>
  typeof answer === 'object' && answer !== null && typeof (answer as { readonly then?: unknown }).then === 'function'
