// Writers that count: each reads a counter, adds one on condition that nobody else did, and notes what was acknowledged.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Storage, StorageUnavailableError } from '../../src/storage/storage.js'

export interface CountingOptions {
  readonly storages: readonly Storage[]
  readonly keys: readonly string[]
  /** Whether a storage may write now; left out: always. */
  readonly mayWrite?: (storage: Storage) => boolean
}

export class Counting {
  /** Additions that were acknowledged, by key. */
  readonly acknowledged = new Map<string, number>()
  /** Additions of which it is unknown whether they were stored. */
  readonly uncertain = new Map<string, number>()
  #isStopped = false
  readonly #mayWrite: (storage: Storage) => boolean
  readonly #writers: readonly Promise<void>[]

  constructor({ storages, keys, mayWrite = () => true }: CountingOptions) {
    this.#mayWrite = mayWrite
    this.#writers = storages.flatMap((storage) => keys.map((key) => this.#write(storage, key)))
  }

  get total(): number {
    return [...this.acknowledged.values()].reduce((sum, count) => sum + count, 0)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#writers)
  }

  /** What is wrong with the counters as the storage shows them. */
  faults(storage: Storage): readonly string[] {
    const keys = new Set([...this.acknowledged.keys(), ...this.uncertain.keys()])
    return [...keys].flatMap((key) => {
      const shown = Number(storage.read(key)?.value.toString() ?? 0)
      const least = this.acknowledged.get(key) ?? 0
      const most = least + (this.uncertain.get(key) ?? 0)
      return shown >= least && shown <= most ? [] : [`${key} is ${shown}, and must be between ${least} and ${most}`]
    })
  }

  async #write(storage: Storage, key: string): Promise<void> {
    const count = (counts: Map<string, number>): void => void counts.set(key, (counts.get(key) ?? 0) + 1)
    while (!this.#isStopped) {
      if (!this.#mayWrite(storage)) {
        await sleep(5)
        continue
      }
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
