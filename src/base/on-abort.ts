// Listens to a signal that many may share: it gets one listener for all of them, because Node takes more than ten for a leak.

class Listeners extends Set<() => void> {
  readonly tell = (): void => {
    for (const each of this) each()
  }
}

const kept = new WeakMap<AbortSignal, Listeners>()

/** Calls once the signal is aborted, which it must not be yet; unless what is returned was called before. The last who leaves leaves nothing behind. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = kept.get(signal)
  if (listeners === undefined) {
    listeners = new Listeners()
    kept.set(signal, listeners)
    signal.addEventListener('abort', listeners.tell, { once: true })
  }
  const all = listeners
  const own = (): void => listener()
  all.add(own)
  return () => {
    if (!all.delete(own) || all.size > 0) return
    signal.removeEventListener('abort', all.tell)
    kept.delete(signal)
  }
}
