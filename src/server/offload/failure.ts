// Errors on their way between the event loop and the thread for heavy requests: values there, and made anew on the other side.

import { ApiError } from '../../api/api-error.js'
import { CompactedError, StorageRefusedError, StorageUnavailableError, TooLargeError, TooManyWritesError } from '../../storage/storage.js'
import type { Failure } from './messages.js'

export function failureOf(thrown: unknown): Failure {
  const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (thrown instanceof ApiError) return { name, message, status: thrown.status }
  if (thrown instanceof TooManyWritesError) return { name, message, most: thrown.most }
  return thrown instanceof CompactedError ? { name, message, compacted: thrown.compacted } : { name, message }
}

export function errorOf({ name, message, compacted, most, status }: Failure): Error {
  if (status !== undefined) return new ApiError(status)
  if (compacted !== undefined) return new CompactedError(compacted)
  if (most !== undefined) return new TooManyWritesError(most)
  if (name === 'TooLargeError') return new TooLargeError(message)
  if (name === 'StorageRefusedError') return new StorageRefusedError(message)
  return name === 'StorageUnavailableError' ? new StorageUnavailableError(message) : new Error(message)
}
