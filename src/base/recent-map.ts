// A map with a bound: what was asked for recently stays, and the rest goes in two steps. Cheaper than an order of all keys: a key that is found
// in the younger half costs one look-up.

export class RecentMap<K, V> {
  readonly #half: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  /** `most`: how many there may be at a time. */
  constructor(most: number) {
    this.#half = Math.max(1, most >> 1)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: K): V | undefined {
    const found = this.#young.get(key)
    if (found !== undefined) return found
    const kept = this.#old.get(key)
    if (kept !== undefined) this.set(key, kept)
    return kept
  }

  set(key: K, value: V): void {
    this.#old.delete(key)
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
