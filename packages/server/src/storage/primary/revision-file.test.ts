// The file with the newest revision, which the primary writes and workers read.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { openMemoryStorage } from '../memory/memory-storage.js'
import type { ChangeListener } from '../storage.js'
import { RevisionFile, revisionReader } from './revision-file.js'

const skip = existsSync('/dev/shm') ? false : 'there is no /dev/shm'

/** A store whose revision a test sets. */
function fakeStorage(revision: number) {
  const listeners: ChangeListener[] = []
  const follow = (listener: ChangeListener) => {
    listeners.push(listener)
    return () => undefined
  }
  return { revision, listeners, follow }
}

function create(storage: Parameters<typeof RevisionFile.create>[0], onError = (error: unknown): unknown => assert.fail(String(error))) {
  const file = RevisionFile.create(storage, onError)
  assert.ok(file !== undefined)
  return file
}

test('a reader sees the revision of a commit before it is acknowledged', { skip }, async () => {
  const storage = openMemoryStorage()
  const file = create(storage)
  const read = revisionReader(file.readOnly)
  assert.equal(read(), storage.revision)
  for (const value of ['1', '2', '3']) {
    const outcome = await storage.commit([{ key: 'k', value: Buffer.from(value), expect: undefined }])
    assert.ok(outcome.ok)
    assert.equal(read(), outcome.revision)
  }
  for (const revision of [0, 255, 256, 0xffff_ffff, 2 ** 48]) {
    file.write(revision)
    assert.equal(read(), revision)
  }
  file.close()
  await storage.close()
})

test('a failed write is reported', { skip }, () => {
  const errors: unknown[] = []
  const storage = fakeStorage(1)
  const file = create(storage, (error) => errors.push(error))
  storage.revision = Number.NaN
  for (const listener of storage.listeners) listener([], false)
  assert.equal(errors.length, 1)
  file.close()
})

test('if the first write fails, as without space, there is no file', { skip }, () => {
  const storage = fakeStorage(Number.NaN)
  assert.equal(
    RevisionFile.create(storage, () => undefined),
    undefined,
  )
  assert.deepEqual(storage.listeners, [])
})
