// The file with the newest revision, which the primary writes and workers read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStorage } from '../memory/memory-storage.js'
import { RevisionFile, revisionReader } from './revision-file.js'

const file = RevisionFile.create()
const skip = file === undefined ? 'there is no /dev/shm' : false

test('a reader sees the revision of a commit before it is acknowledged', { skip }, async () => {
  const storage = openMemoryStorage()
  const read = revisionReader(file?.readOnly ?? 0)
  assert.equal(read(), undefined, 'the store is not followed yet')
  const unfollow = file?.follow(storage, (error) => assert.fail(String(error)))
  assert.equal(read(), storage.revision)
  for (const value of ['1', '2', '3']) {
    const outcome = await storage.commit([{ key: 'k', value: Buffer.from(value), expect: undefined }])
    assert.ok(outcome.ok)
    assert.equal(read(), outcome.revision)
  }
  for (const revision of [0, 255, 256, 0xffff_ffff, 2 ** 48]) {
    file?.write(revision)
    assert.equal(read(), revision)
  }
  unfollow?.()
  await storage.close()
})

test('a failed write is reported', { skip }, () => {
  const errors: unknown[] = []
  const listeners: (() => void)[] = []
  const storage = { revision: 1, follow: (listener: () => void) => listeners.push(listener) }
  file?.follow(storage as never, (error) => errors.push(error))
  storage.revision = Number.NaN
  for (const listener of listeners) listener()
  assert.equal(errors.length, 1)
  file?.close()
})
