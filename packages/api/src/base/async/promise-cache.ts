// Caches promises until they reject, so that concurrent callers share one and the next caller retries after a failure.

export function cacheUntilRejected<T>(start: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined
  return () => {
    if (cached !== undefined) return cached
    const promise = start()
    cached = promise
    promise.catch(() => {
      if (cached === promise) cached = undefined
    })
    return promise
  }
}

export function getOrStart<K, T>(map: PromiseMap<K, T>, key: K, start: () => Promise<T>): Promise<T> {
  const cached = map.get(key)
  if (cached !== undefined) return cached
  const promise = start()
  setUntilRejected(map, key, promise)
  return promise
}

export function setUntilRejected<K, T>(map: PromiseMap<K, T>, key: K, promise: Promise<T>): void {
  map.set(key, promise)
  promise.catch(() => {
    if (map.get(key) === promise) map.delete(key)
  })
}

interface PromiseMap<K, T> {
  get(key: K): Promise<T> | undefined
  set(key: K, value: Promise<T>): unknown
  delete(key: K): unknown
}
