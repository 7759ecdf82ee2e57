// Limits of the record of changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoredObject } from '../../../objects/entry/stored-object.js'
import { openMemoryStorage } from '../../../storage/memory/memory-storage.js'
import { ChangeRecord } from './change-record.js'

const clock = { now: () => 1 }
const put = (key: string, value: string) => ({ key, value: Buffer.from(value), expect: undefined })

test('beyond a limit the oldest versions are dropped, and the record says from where it is complete', async () => {
  for (const limits of [
    { versions: 3, bytes: Number.POSITIVE_INFINITY },
    // 200 bytes per version besides its value.
    { versions: Number.POSITIVE_INFINITY, bytes: 3 * 201 },
  ]) {
    const storage = openMemoryStorage()
    const record = new ChangeRecord(limits)
    record.follow(storage, clock)
    assert.equal(record.of('a/1').keptFrom, undefined)
    const revisions: number[] = []
    for (const key of ['a/1', 'a/2', 'a/1', 'a/1', 'a/1']) {
      const outcome = await storage.commit([put(key, 'x')])
      if (outcome.ok) revisions.push(outcome.revision)
      // The history of the storage is not needed.
      await storage.compact(storage.revision)
    }
    assert.deepEqual(
      record.of('a/1').versions.map(({ commit }) => commit.revision),
      revisions.slice(2),
    )
    assert.deepEqual(record.of('a/2'), { versions: [], base: undefined, keptFrom: revisions[2] })
    await storage.close()
  }
})

test('an entry from before the record is its base', async () => {
  const storage = openMemoryStorage()
  await storage.commit([put('a/1', 'old')])
  const record = new ChangeRecord()
  record.follow(storage, clock)
  await storage.commit([put('a/1', 'new')])
  assert.equal(String(record.of('a/1').base?.value), 'old')
  await storage.close()
})

test('an author may be known before or after the change', async () => {
  const storage = openMemoryStorage()
  const record = new ChangeRecord()
  const listener = record.listener('quota')
  record.follow(storage, clock)
  const next = storage.revision + 1
  const entry = { key: 'a/1', value: Buffer.alloc(0) }
  listener(new StoredObject({ ...entry, revision: next }))
  await storage.commit([put('a/1', 'x')])
  await storage.commit([put('a/1', 'y')])
  listener(new StoredObject({ ...entry, revision: next + 1 }))
  assert.deepEqual(
    record.of('a/1').versions.map(({ commit: { author } }) => author?.user),
    ['system:controller:quota', 'system:controller:quota'],
  )
  await storage.close()
})
