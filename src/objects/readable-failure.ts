// What the failures of a store mean to whoever asked for something: that it may try again, or that it asked for too much at once.

import { requestEntityTooLarge, unavailable } from '../api/api-error.js'
import { StorageUnavailableError, TooLargeError, TooManyWritesError } from '../storage/storage.js'

export function readableFailure(thrown: unknown, what: string): unknown {
  if (thrown instanceof StorageUnavailableError) return unavailable(`the store cannot ${what} now: ${thrown.message}`)
  if (thrown instanceof TooLargeError) return requestEntityTooLarge(thrown.message)
  if (!(thrown instanceof TooManyWritesError)) return thrown
  return requestEntityTooLarge(
    `the object, the addresses and ports that it takes or gives back, and the quotas that count it are written together, and ${thrown.message}`,
  )
}
