// Group commit: what is asked for in turns of the event loop that follow one another becomes durable together, and what is asked for while
// a batch is being written waits for the next one. A batch is decided only when the one before it is durable, so a batch that fails
// takes nobody with it.

import { coalesce } from './coalesce.js'

/** Something that wants to be part of a batch. */
export interface BatchItem<B> {
  /** Adds itself to the batch; what it throws fails this item alone. */
  stage(batch: B): void
  /** The batch is durable and published. */
  resolve(): void
  fail(error: unknown): void
}

export interface BatchWriter<B> {
  begin(): B
  isFull(batch: B): boolean
  /** Makes the batch durable; undefined when there was nothing to write. */
  write(batch: B): Promise<unknown> | undefined
  /** Moves the engine's visible state to include the batch. */
  publish(batch: B): void
  /** After a failed write: brings the engine back to what is durable, and returns what to tell those who waited. */
  recover(error: unknown): Promise<Error>
}

interface OpenBatch<B> {
  readonly batch: B
  readonly items: BatchItem<B>[]
}

export class CommitQueue<B> {
  readonly #writer: BatchWriter<B>
  readonly #waiting: BatchItem<B>[] = []
  #open: OpenBatch<B> | undefined
  /** Held here and not by the callbacks of the write: the lmdb package keeps those reachable long enough to make them old garbage. */
  #inFlight: OpenBatch<B> | undefined
  #isBusy = false
  /** The most that one of the last two batches has held. */
  #mostLately = Number.POSITIVE_INFINITY
  #heldLast = Number.POSITIVE_INFINITY

  constructor(writer: BatchWriter<B>) {
    this.#writer = writer
  }

  add(item: BatchItem<B>): void {
    if (this.#isBusy || this.#waiting.length > 0) this.#waiting.push(item)
    else this.#stage(item)
  }

  /** Waits until everything added so far has been resolved or failed. */
  close(): Promise<void> {
    return new Promise((resolve) => this.add({ stage: () => undefined, resolve: resolve, fail: () => resolve() }))
  }

  #stage(item: BatchItem<B>): void {
    try {
      const open = this.#open ?? this.#begin()
      if (this.#writer.isFull(open.batch)) {
        this.#waiting.push(item)
        return
      }
      item.stage(open.batch)
      open.items.push(item)
    } catch (error) {
      item.fail(error)
    }
  }

  #begin(): OpenBatch<B> {
    const open: OpenBatch<B> = { batch: this.#writer.begin(), items: [] }
    this.#open = open
    // A commit costs nearly the same for one as for ten.
    coalesce(
      () => (this.#writer.isFull(open.batch) ? undefined : open.items.length),
      () => this.#write(open),
      this.#mostLately <= 1,
    )
    return open
  }

  #write(open: OpenBatch<B>): void {
    this.#inFlight = open
    this.#open = undefined
    this.#mostLately = Math.max(this.#heldLast, open.items.length)
    this.#heldLast = open.items.length
    this.#isBusy = true
    try {
      const written = this.#writer.write(open.batch)
      if (written) written.then(this.#acknowledge, this.#fail)
      else this.#acknowledge()
    } catch (error) {
      void this.#fail(error)
    }
  }

  readonly #acknowledge = (): void => {
    const done = this.#inFlight
    try {
      if (done) this.#writer.publish(done.batch)
    } catch (error) {
      void this.#fail(error)
      return
    }
    this.#inFlight = undefined
    for (const item of done?.items ?? []) item.resolve()
    this.#continue()
  }

  readonly #fail = async (error: unknown): Promise<void> => {
    const failed = this.#inFlight
    this.#inFlight = undefined
    const reported = await this.#writer.recover(error)
    for (const item of failed?.items ?? []) item.fail(reported)
    this.#continue()
  }

  #continue(): void {
    this.#isBusy = false
    const waiting = this.#waiting.splice(0)
    for (const item of waiting) this.#stage(item)
  }
}
