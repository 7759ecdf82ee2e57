// Concurrent writers that increment counters by compare-and-swap, and record acknowledged increments.

import { type Storage, StorageUnavailableError } from '../../src/storage/storage.js'

interface CountingOptions {
  readonly storages: readonly Storage[]
  readonly keys: readonly string[]
}

export class Counting {
  /** Acknowledged increments, by key. */
  readonly acknowledged = new Map<string, number>()
  /** Increments with an unknown result. */
  readonly uncertain = new Map<string, number>()
  #isStopped = false
  readonly #writers: readonly Promise<void>[]

  constructor({ storages, keys }: CountingOptions) {
    this.#writers = storages.flatMap((storage) => keys.map((key) => this.#write(storage, key)))
  }

  get total(): number {
    return [...this.acknowledged.values()].reduce((sum, count) => sum + count, 0)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#writers)
  }

  /** Counters outside of the range that the acknowledged and uncertain increments allow. */
  faults(storage: Storage): readonly string[] {
    const keys = new Set([...this.acknowledged.keys(), ...this.uncertain.keys()])
    return [...keys].flatMap((key) => {
      const stored = Number(storage.read(key)?.value.toString() ?? 0)
      const least = this.acknowledged.get(key) ?? 0
      const most = least + (this.uncertain.get(key) ?? 0)
      return stored >= least && stored <= most ? [] : [`${key} is ${stored}, and must be between ${least} and ${most}`]
    })
  }

  async #write(storage: Storage, key: string): Promise<void> {
    const count = (counts: Map<string, number>): void => void counts.set(key, (counts.get(key) ?? 0) + 1)
    while (!this.#isStopped) {
      const current = storage.read(key)
      const value = Buffer.from(String(Number(current?.value.toString() ?? 0) + 1))
      try {
        const outcome = await storage.commit([{ key, value, expect: current?.revision ?? 0 }])
        if (outcome.ok) count(this.acknowledged)
      } catch (error) {
        if (!(error instanceof StorageUnavailableError)) throw error
        count(this.uncertain)
      }
    }
  }
}
