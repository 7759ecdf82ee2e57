// Storage contract (tests of every engine), part 4: expiry, large values, close and reopen.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Change, CompactedError, StorageUnavailableError } from '../storage.js'
import { type ContractHarness, everything, noLimit, until } from './contract-harness.js'

export function lifetimeContract(harness: ContractHarness): void {
  test('an expired key is deleted with a change', async () => {
    const seen: Change[] = []
    harness.storage.follow((changes) => seen.push(...changes))
    await harness.put('k/later', 'stays', { expiresAtMs: Date.now() + 3_600_000 })
    await harness.put('k/soon', 'expires', { expiresAtMs: Date.now() + 60 })
    await harness.put('k/past', 'expires', { expiresAtMs: Date.now() - 1000 })
    const keptDueMs = Date.now() + 500
    await harness.put('k/kept', 'would expire', { expiresAtMs: keptDueMs })
    await harness.put('k/kept', 'has no expiry now')
    await until(() => harness.storage.read('k/soon') === undefined && harness.storage.read('k/past') === undefined)
    await sleep(Math.max(30, keptDueMs + 50 - Date.now()))
    assert.deepEqual(harness.keysOf(), ['k/kept', 'k/later'])
    const deleted = seen.filter(({ value }) => value === undefined)
    assert.deepEqual(deleted.map(({ key, previous }) => `${key}: ${previous?.value}`).toSorted(), ['k/past: expires', 'k/soon: expires'])
    assert.equal(harness.storage.count({ start: 'k/', end: 'k0' }), 2)
  })

  test('values of 3 MiB are written, updated and read', async () => {
    const value = Buffer.alloc(3 << 20, 'big value ')
    const next = Buffer.alloc((3 << 20) + 1, 'other value ')
    const after = harness.storage.revision
    await harness.storage.commit([{ key: 'big', value, expect: 0 }])
    const at = harness.storage.revision
    await harness.storage.commit([{ key: 'big', value: next, expect: at }])
    assert.ok(harness.storage.read('big')?.value.equals(next))
    assert.ok(harness.storage.range({ ...everything, limit: 1, at }).entries[0]?.value.equals(value))
    const changes = harness.allChanges(after)
    assert.ok(changes[0]?.value?.equals(value))
    assert.ok(changes[1]?.value?.equals(next) && changes[1].previous?.value.equals(value))
  })

  test('close waits for pending commits; a closed storage rejects calls', async () => {
    const pending = Promise.all([harness.put('a', '1'), harness.put('b', '2')])
    await harness.storage.close()
    assert.ok((await pending).every(({ ok }) => ok))
    await assert.rejects(harness.put('c', '3'), StorageUnavailableError)
    assert.throws(() => harness.storage.read('a'), StorageUnavailableError)
    await harness.storage.close()
  })

  describe('after a reopen', () => {
    test('entries, history, revision and compaction are as they were', async (context) => {
      if (!harness.canReopen) return context.skip('the engine does not persist data')
      const start = harness.storage.revision
      const at = await harness.putAll('k/1', 'k/2', 'k/3')
      await harness.remove('k/2')
      await harness.put('k/1', 'newer')
      await harness.storage.compact(start + 1)
      const before = {
        revision: harness.storage.revision,
        changes: harness.allChanges(start + 1),
        entries: harness.storage.range({ ...everything, limit: noLimit }),
      }
      await harness.reopen()
      assert.equal(harness.storage.revision, before.revision)
      assert.equal(harness.storage.compacted, start + 1)
      assert.deepEqual(harness.storage.range({ ...everything, limit: noLimit }), before.entries)
      assert.deepEqual(harness.allChanges(start + 1), before.changes)
      assert.deepEqual(harness.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
      assert.equal(harness.storage.count({ start: 'k/', end: 'k0' }), 2)
      assert.throws(() => harness.storage.changes({ ...everything, after: start, limit: 1 }), CompactedError)
    })

    test('no revision is reused, even if all history was compacted', async (context) => {
      if (!harness.canReopen) return context.skip('the engine does not persist data')
      await harness.putAll('a', 'b')
      const last = await harness.remove('b')
      assert.ok(last.ok)
      await harness.storage.compact(harness.storage.revision)
      await harness.reopen()
      assert.equal(harness.storage.revision, last.revision)
      const next = await harness.put('c', 'x')
      assert.ok(next.ok && next.revision > last.revision)
      await harness.reopen()
      assert.equal(harness.storage.revision, next.revision)
    })

    test('keys expire', async (context) => {
      if (!harness.canReopen) return context.skip('the engine does not persist data')
      await harness.put('k/soon', 'expires', { expiresAtMs: Date.now() + 150 })
      await harness.put('k/stays', 'x')
      await harness.reopen()
      await until(() => harness.storage.read('k/soon') === undefined)
      assert.deepEqual(harness.keysOf(), ['k/stays'])
    })
  })
}
