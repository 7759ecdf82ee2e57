// Retries of the start while the store is unavailable.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '@cluster-apiserver/api/api/api-error.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { StorageUnavailableError } from '../storage/storage.js'
import { retryWhileUnavailable } from './register-apiserver.js'

test('retries while the store is unavailable', async () => {
  let tries = 0
  const work = async (): Promise<void> => {
    tries += 1
    if (tries === 1) throw unavailable('not now')
    if (tries === 2) throw new StorageUnavailableError('nor now')
  }
  await retryWhileUnavailable(work, { logger: silentLogger, signal: undefined })
  assert.equal(tries, 3)
})

test('other errors and an aborted signal are thrown', async () => {
  const fail = (error: Error) => () => Promise.reject(error)
  await assert.rejects(retryWhileUnavailable(fail(new TypeError('oops')), { logger: silentLogger, signal: undefined }), TypeError)
  const signal = AbortSignal.timeout(50)
  await assert.rejects(retryWhileUnavailable(fail(unavailable('not now')), { logger: silentLogger, signal }), {
    name: /AbortError|TimeoutError/,
  })
})
