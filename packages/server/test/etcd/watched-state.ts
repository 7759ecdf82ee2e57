// State of a watcher, built from the changes it received; checks that each change is possible.

import assert from 'node:assert/strict'
import type { Change, Storage } from '../../src/storage/storage.js'

export class WatchedState {
  readonly faults: string[] = []
  changes = 0
  readonly #storage: Storage
  readonly #state = new Map<string, { readonly revision: number; readonly value: string }>()
  readonly #unfollow: () => void
  #revision: number

  constructor(storage: Storage) {
    this.#storage = storage
    this.#revision = storage.revision
    for (const { key, revision, value } of storage.range({ start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }).entries) {
      this.#state.set(key, { revision, value: value.toString() })
    }
    this.#unfollow = storage.follow((changes) => {
      for (const change of changes) this.#apply(change)
    })
  }

  /** Fails unless the state equals the storage and every change was possible. */
  check(): void {
    assert.deepEqual(this.faults, [])
    const stored = this.#storage.range({ start: '', end: '\u{10ffff}', limit: Number.POSITIVE_INFINITY }).entries
    assert.deepEqual(
      stored.map(({ key, revision, value }) => ({ key, revision, value: value.toString() })),
      [...this.#state.entries()].map(([key, entry]) => ({ key, ...entry })).sort((a, b) => (a.key < b.key ? -1 : 1)),
    )
  }

  close(): void {
    this.#unfollow()
  }

  #apply({ key, revision, value, previous }: Change): void {
    this.changes += 1
    const known = this.#state.get(key)
    if (revision < this.#revision) this.faults.push(`${key}: revision ${revision} after ${this.#revision}`)
    if (known?.revision !== previous?.revision) this.faults.push(`${key}: was ${previous?.revision}, known is ${known?.revision}`)
    if (value === undefined && known === undefined) this.faults.push(`${key}: deleted without having been there`)
    this.#revision = revision
    if (value === undefined) this.#state.delete(key)
    else this.#state.set(key, { revision, value: value.toString() })
  }
}
