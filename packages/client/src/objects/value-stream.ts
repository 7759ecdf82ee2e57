// Async iterator over batches of values. Values of a fetched batch need no further await, unlike with a generator.

/** Values as they arrive, for `for await` or for `each`, which has less overhead per value. */
export interface ValueStream<T> extends AsyncIterableIterator<T> {
  /** Calls and awaits `callback` for each value; `false` or an error ends the stream. Resolves at its end. */
  each(callback: (value: T) => unknown): Promise<void>
}

export class BatchStream<T> implements ValueStream<T> {
  private readonly batches: AsyncGenerator<readonly T[], void, undefined>
  private batch: readonly T[] = []
  private index = 0
  private reading: Promise<IteratorResult<T, void>> | undefined
  private readonly stop: () => void

  /** `stop` aborts the pending read of `batches`: a generator handles `return()` only after its await settles. */
  constructor(batches: AsyncGenerator<readonly T[], void, undefined>, stop: () => void = () => undefined) {
    this.batches = batches
    this.stop = stop
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.reading === undefined && this.index < this.batch.length) {
      return Promise.resolve({ value: this.batch[this.index++] as T, done: false })
    }
    // Concurrent calls resolve in order.
    const previous = this.reading
    const reading: Promise<IteratorResult<T, void>> = (previous === undefined ? this.read() : previous.then(() => this.read())).finally(
      () => {
        if (this.reading === reading) this.reading = undefined
      },
    )
    this.reading = reading
    return reading
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.batch = []
    this.stop()
    await this.batches.return()
    return { value: undefined, done: true }
  }

  async each(callback: (value: T) => unknown): Promise<void> {
    try {
      for (let next = await this.next(); next.done !== true; next = await this.next()) {
        for (let { value } = next; ; value = this.batch[this.index++] as T) {
          const result = callback(value)
          if (result === false || (isPromise(result) && (await result) === false)) return
          if (this.index >= this.batch.length) break
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
    while (this.index >= this.batch.length) {
      const { value, done } = await this.batches.next()
      if (done === true) return { value: undefined, done: true }
      this.batch = value
      this.index = 0
    }
    return { value: this.batch[this.index++] as T, done: false }
  }
}

const isPromise = (result: unknown): result is PromiseLike<unknown> =>
  typeof result === 'object' && result !== null && typeof (result as { readonly then?: unknown }).then === 'function'
