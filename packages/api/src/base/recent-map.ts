// RecentMap: a bounded map that evicts entries without recent use. Also memoization in maps and weak maps.

/** Has at most `maxEntries`. Each time half as many were read or written, drops the entries that were neither since the last drop. */
export class RecentMap<K, V> {
  readonly #half: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(maxEntries: number) {
    this.#half = Math.max(1, maxEntries >> 1)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: K): V | undefined {
    const found = this.#young.get(key)
    if (found !== undefined) return found
    const older = this.#old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
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

export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const inserted = make()
  map.set(key, inserted)
  return inserted
}

/** Memoizes a function of an object for as long as the object lives. */
export function weakMemoize<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const results = new WeakMap<Key, { readonly result: Result }>()
  return (key) => {
    const found = results.get(key)
    if (found !== undefined) return found.result
    const result = compute(key)
    results.set(key, { result })
    return result
  }
}
