// Shares one abort listener per signal among many callers: Node.js warns of a leak from eleven listeners on.

class Listeners extends Set<() => void> {
  readonly notify = (): void => {
    for (const listener of this) listener()
  }
}

const listenersBySignal = new WeakMap<AbortSignal, Listeners>()

/** Requires a signal that is not aborted. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = listenersBySignal.get(signal)
  if (listeners === undefined) {
    listeners = new Listeners()
    listenersBySignal.set(signal, listeners)
    signal.addEventListener('abort', listeners.notify, { once: true })
  }
  const shared = listeners
  const entry = (): void => listener() // distinct even if the same listener is added twice
  shared.add(entry)
  return () => {
    if (!shared.delete(entry) || shared.size > 0) return
    signal.removeEventListener('abort', shared.notify)
    listenersBySignal.delete(signal)
  }
}
