// Locks per storage key: writers of one object that met a conflict retry one after the other, not all at once.

/** A holder may wait for a webhook: after this time the next waiter gets the lock. */
const defaultMaxLockMs = 2000

export interface KeyLock {
  readonly acquired: Promise<void>
  readonly release: () => void
}

export class KeyLocks {
  /** For each locked key, resolves when its last lock is released. */
  readonly #released = new Map<string, Promise<void>>()
  readonly #maxMs: number

  constructor(maxMs = defaultMaxLockMs) {
    this.#maxMs = maxMs
  }

  isLocked(key: string): boolean {
    return this.#released.size > 0 && this.#released.has(key)
  }

  acquire(key: string): KeyLock {
    const acquired = this.#released.get(key) ?? Promise.resolve()
    let isReleased = false
    let release = (): void => {
      isReleased = true
    }
    const released = acquired.then(
      () =>
        new Promise<void>((resolve) => {
          if (isReleased) {
            resolve()
            return
          }
          const timer = setTimeout(resolve, this.#maxMs)
          release = () => {
            clearTimeout(timer)
            resolve()
          }
        }),
    )
    this.#released.set(key, released)
    void released.then(() => {
      if (this.#released.get(key) === released) this.#released.delete(key)
    })
    return { acquired, release: () => release() }
  }
}
