// Consistent reads of a worker. A read waits for the changes up to the shared revision; without one, the primary is asked for its revision.

import { StorageUnavailableError } from '../storage.js'

const timeoutMs = 10_000

interface PendingRead {
  readonly sinceMs: number
  readonly resolve: (revision: number) => void
  readonly reject: (error: unknown) => void
}

interface WaitingRead extends PendingRead {
  readonly revision: number
}

export class ConsistentReads {
  readonly #request: (id: number) => void
  /** In the order of their revisions. */
  readonly #waiting: WaitingRead[] = []
  /** Reads of the request that is on its way. */
  #requested: PendingRead[] = []
  /** Reads of the request after it. */
  #planned: PendingRead[] = []
  #lastId = 0

  /** `request` asks the primary; the response comes through `finishRequest`. */
  constructor(request: (id: number) => void) {
    this.#request = request
  }

  /** `current`: revision of this worker; `shared`: newest revision, if it is known. */
  begin(current: number, shared: number | undefined): number | Promise<number> {
    if (shared !== undefined && shared <= current) return current
    return new Promise((resolve, reject) => {
      const read = { sinceMs: performance.now(), resolve, reject }
      if (shared !== undefined) this.#waiting.push({ ...read, revision: shared })
      else if (this.#planned.push(read) === 1) queueMicrotask(this.#requestNext)
    })
  }

  /** The worker has all changes up to this revision. */
  reach(revision: number): void {
    for (let next = this.#waiting[0]; next !== undefined && next.revision <= revision; next = this.#waiting[0]) {
      this.#waiting.shift()
      next.resolve(revision)
    }
  }

  finishRequest(id: number, revision: number): void {
    // The response to a request that has timed out is older than the reads of the next one.
    if (id !== this.#lastId) return
    const requested = this.#requested
    this.#requested = []
    for (const { resolve } of requested) resolve(revision)
    this.#requestNext()
  }

  /** Rejects reads that have waited too long. */
  expire(): void {
    const lateMs = performance.now() - timeoutMs
    const error = new StorageUnavailableError('the primary process does not respond')
    for (const reads of [this.#waiting, this.#requested, this.#planned])
      while ((reads[0]?.sinceMs ?? lateMs) < lateMs) reads.shift()?.reject(error)
    this.#requestNext()
  }

  end(error: unknown): void {
    for (const { reject } of [...this.#waiting, ...this.#requested, ...this.#planned]) reject(error)
    this.#waiting.length = 0
    this.#requested = []
    this.#planned = []
  }

  readonly #requestNext = (): void => {
    if (this.#requested.length > 0 || this.#planned.length === 0) return
    this.#requested = this.#planned
    this.#planned = []
    this.#request(++this.#lastId)
  }
}
