// A store that comes back is used; anything else ends the start.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '../api/api-error.js'
import { silentLogger } from '../base/logger.js'
import { StorageUnavailableError } from '../storage/storage.js'
import { whenUsable } from './when-usable.js'

test('what cannot be done now is tried again', async () => {
  let tries = 0
  const work = async (): Promise<void> => {
    tries += 1
    if (tries === 1) throw unavailable('not now')
    if (tries === 2) throw new StorageUnavailableError('nor now')
  }
  await whenUsable(work, { logger: silentLogger, signal: undefined })
  assert.equal(tries, 3)
})

test('other failures and the end of patience are thrown', async () => {
  const fail = (error: Error) => () => Promise.reject(error)
  await assert.rejects(whenUsable(fail(new TypeError('oops')), { logger: silentLogger, signal: undefined }), TypeError)
  const signal = AbortSignal.timeout(50)
  await assert.rejects(whenUsable(fail(unavailable('not now')), { logger: silentLogger, signal }), { name: /AbortError|TimeoutError/ })
})
