// Contract of the engines, part four: expiry, large values, closing, and what a reopened storage remembers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { everything, never, type Subject, until } from './contract-subject.js'
import { type Change, CompactedError, StorageUnavailableError } from './storage.js'

export function lifetimeContract(subject: Subject): void {
  test('a key with an expiry is deleted when it is due, as a change like any other', async () => {
    const seen: Change[] = []
    subject.storage.follow((changes) => seen.push(...changes))
    await subject.put('k/later', 'stays', { expiresAtMs: Date.now() + 3_600_000 })
    await subject.put('k/soon', 'goes', { expiresAtMs: Date.now() + 60 })
    await subject.put('k/past', 'goes', { expiresAtMs: Date.now() - 1000 })
    const keptDueMs = Date.now() + 500
    await subject.put('k/kept', 'was to go', { expiresAtMs: keptDueMs })
    await subject.put('k/kept', 'has no expiry now')
    await until(() => subject.storage.read('k/soon') === undefined && subject.storage.read('k/past') === undefined)
    await sleep(Math.max(30, keptDueMs + 50 - Date.now()))
    assert.deepEqual(subject.keysOf(), ['k/kept', 'k/later'])
    const deleted = seen.filter(({ value }) => value === undefined)
    assert.deepEqual(deleted.map(({ key, previous }) => `${key}: ${previous?.value}`).toSorted(), ['k/past: goes', 'k/soon: goes'])
    assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }), 2)
  })

  test('values of 3 MiB', async () => {
    const value = Buffer.alloc(3 << 20, 'big value ')
    const next = Buffer.alloc((3 << 20) + 1, 'other value ')
    const after = subject.storage.revision
    await subject.storage.commit([{ key: 'big', value, expect: 0 }])
    const at = subject.storage.revision
    await subject.storage.commit([{ key: 'big', value: next, expect: at }])
    assert.ok(subject.storage.read('big')?.value.equals(next))
    assert.ok(subject.storage.range({ ...everything, limit: 1, at }).entries[0]?.value.equals(value))
    const changes = subject.allChanges(after)
    assert.ok(changes[0]?.value?.equals(value))
    assert.ok(changes[1]?.value?.equals(next) && changes[1].previous?.value.equals(value))
  })

  test('closing waits for pending commits; a closed storage says so', async () => {
    const pending = Promise.all([subject.put('a', '1'), subject.put('b', '2')])
    await subject.storage.close()
    assert.ok((await pending).every(({ ok }) => ok))
    await assert.rejects(subject.put('c', '3'), StorageUnavailableError)
    assert.throws(() => subject.storage.read('a'), StorageUnavailableError)
    await subject.storage.close()
  })

  describe('after a reopen', () => {
    test('entries, history, revision and compaction are as they were', async (context) => {
      if (!subject.canReopen) return context.skip('the engine keeps nothing')
      const start = subject.storage.revision
      const at = await subject.putAll('k/1', 'k/2', 'k/3')
      await subject.remove('k/2')
      await subject.put('k/1', 'newer')
      await subject.storage.compact(start + 1)
      const before = {
        revision: subject.storage.revision,
        changes: subject.allChanges(start + 1),
        entries: subject.storage.range({ ...everything, limit: never }),
      }
      await subject.reopen()
      assert.equal(subject.storage.revision, before.revision)
      assert.equal(subject.storage.compacted, start + 1)
      assert.deepEqual(subject.storage.range({ ...everything, limit: never }), before.entries)
      assert.deepEqual(subject.allChanges(start + 1), before.changes)
      assert.deepEqual(subject.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
      assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }), 2)
      assert.throws(() => subject.storage.changes({ ...everything, after: start, limit: 1 }), CompactedError)
    })

    test('no revision is used again, not even when all history was compacted', async (context) => {
      if (!subject.canReopen) return context.skip('the engine keeps nothing')
      await subject.putAll('a', 'b')
      const last = await subject.remove('b')
      assert.ok(last.ok)
      await subject.storage.compact(subject.storage.revision)
      await subject.reopen()
      assert.equal(subject.storage.revision, last.revision)
      const next = await subject.put('c', 'x')
      assert.ok(next.ok && next.revision > last.revision)
      await subject.reopen()
      assert.equal(subject.storage.revision, next.revision)
    })

    test('pending expiries are carried out', async (context) => {
      if (!subject.canReopen) return context.skip('the engine keeps nothing')
      await subject.put('k/soon', 'goes', { expiresAtMs: Date.now() + 150 })
      await subject.put('k/stays', 'x')
      await subject.reopen()
      await until(() => subject.storage.read('k/soon') === undefined)
      assert.deepEqual(subject.keysOf(), ['k/stays'])
    })
  })
}
