// Turns at the quotas of a namespace: writes that they count follow one another, and those of other namespaces do not wait.

export class QuotaTurns {
  /** The last of those that wait, by namespace. */
  readonly #queues = new Map<string, Promise<unknown>>()

  take<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(namespace)
    const done = before === undefined ? work() : before.then(work, work)
    const settled = done.then(ignore, ignore)
    this.#queues.set(namespace, settled)
    void settled.then(() => {
      if (this.#queues.get(namespace) === settled) this.#queues.delete(namespace)
    })
    return done
  }
}

const ignore = (): void => undefined
