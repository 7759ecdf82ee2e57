// Stops waiting for shared work when the caller's signal aborts; the work continues for other callers.

import { onAbort } from './on-abort.js'

export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(onAbort(signal, abort))
  })
}
