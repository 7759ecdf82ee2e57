// Waiting for work that goes on for others: whoever leaves leaves it to them.

import { onAbort } from './on-abort.js'

/** Rejects with the signal's reason when it is aborted first. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(onAbort(signal, abort))
  })
}
