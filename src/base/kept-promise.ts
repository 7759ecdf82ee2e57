// Promises that are kept for all who ask, until one fails: whoever asks next tries again.

/** Made when it is first asked for. */
export function keptUntilFailed<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined
  return () => {
    if (kept !== undefined) return kept
    const made = make()
    kept = made
    // Heard of before anybody who waits for it.
    made.catch(() => {
      if (kept === made) kept = undefined
    })
    return made
  }
}

/** The same under a key of a map. */
export function getOrTry<K, T>(map: PromiseMap<K, T>, key: K, make: () => Promise<T>): Promise<T> {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  keepUntilFailed(map, key, made)
  return made
}

/** Instead of what was kept before. */
export function keepUntilFailed<K, T>(map: PromiseMap<K, T>, key: K, made: Promise<T>): void {
  map.set(key, made)
  made.catch(() => {
    if (map.get(key) === made) map.delete(key)
  })
}

/** A map, or one with a bound. */
export interface PromiseMap<K, T> {
  get(key: K): Promise<T> | undefined
  set(key: K, value: Promise<T>): unknown
  delete(key: K): unknown
}
