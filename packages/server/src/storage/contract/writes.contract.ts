// Storage contract (tests of every engine), part 1: writes, conditions and revisions.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TooManyWritesError } from '../storage.js'
import { assertEntry, type ContractHarness, everything } from './contract-harness.js'

export function writesContract(harness: ContractHarness): void {
  test('a new storage is empty, at a revision below that of any write', async () => {
    assert.ok(harness.storage.revision >= 1)
    assert.equal(harness.storage.read('a'), undefined)
    assert.deepEqual(harness.storage.range({ ...everything, limit: 10 }), { entries: [], more: false })
    assert.equal(harness.storage.count(everything), 0)
    assert.deepEqual(harness.storage.changes({ ...everything, after: harness.storage.revision, limit: 10 }), {
      changes: [],
      upTo: harness.storage.revision,
    })
    assert.equal(await harness.storage.readIndex(), harness.storage.revision)
  })

  test('a written value is read back with its revision', async () => {
    const before = harness.storage.revision
    const outcome = await harness.put('a', 'one')
    assert.ok(outcome.ok && outcome.revision > before)
    assert.equal(harness.storage.revision, outcome.revision)
    assertEntry(harness.storage.read('a'), { key: 'a', revision: outcome.revision, value: 'one' })
  })

  test('a value may be empty', async () => {
    const outcome = await harness.put('a', '')
    assert.ok(outcome.ok)
    assertEntry(harness.storage.read('a'), { key: 'a', revision: outcome.revision, value: '' })
    assert.equal(harness.storage.count(everything), 1)
  })

  test('a delete removes the key; deleting an absent key changes nothing', async () => {
    await harness.put('a', 'one')
    const deleted = await harness.remove('a')
    assert.ok(deleted.ok)
    assert.equal(harness.storage.read('a'), undefined)
    assert.deepEqual(await harness.remove('a'), { ok: true, revision: deleted.revision })
    assert.deepEqual(await harness.storage.commit([]), { ok: true, revision: deleted.revision })
    assert.equal(harness.storage.revision, deleted.revision)
  })

  describe('compare and set', () => {
    const rows = [
      { name: 'absent as expected', existing: false, expect: 'absent', ok: true },
      { name: 'absent, but a revision expected', existing: false, expect: 'current', ok: false },
      { name: 'present at the expected revision', existing: true, expect: 'current', ok: true },
      { name: 'present at another revision', existing: true, expect: 'other', ok: false },
      { name: 'present, but expected absent', existing: true, expect: 'absent', ok: false },
      { name: 'present, no condition', existing: true, expect: 'any', ok: true },
    ] as const
    for (const row of rows) {
      for (const isDelete of [false, true]) {
        test(`${isDelete ? 'delete' : 'write'}: ${row.name}`, async () => {
          await harness.put('other', 'x')
          if (row.existing) await harness.put('a', 'old')
          const before = harness.storage.read('a')
          const revision = harness.storage.revision
          const expect = { absent: 0, current: before?.revision ?? revision, other: revision - 1, any: undefined }[row.expect]
          const outcome = await harness.storage.commit([{ key: 'a', value: isDelete ? undefined : Buffer.from('new'), expect }])
          assert.equal(outcome.ok, row.ok)
          if (!outcome.ok) {
            assert.equal(outcome.key, 'a')
            assert.deepEqual(outcome.current, before)
            assert.deepEqual(harness.storage.read('a'), before)
            assert.equal(harness.storage.revision, revision)
          }
        })
      }
    }
  })

  test('a commit of several writes is atomic and has one revision', async () => {
    const { revision } = harness.storage
    const first = await harness.storage.commit([
      { key: 'a', value: Buffer.from('1'), expect: 0 },
      { key: 'b', value: Buffer.from('2'), expect: 0 },
    ])
    assert.ok(first.ok && first.revision > revision)
    assert.deepEqual([harness.storage.read('a')?.revision, harness.storage.read('b')?.revision], [first.revision, first.revision])
    const second = await harness.storage.commit([
      { key: 'c', value: Buffer.from('3'), expect: 0 },
      { key: 'a', value: undefined, expect: first.revision },
      { key: 'b', value: Buffer.from('4'), expect: 0 },
    ])
    assert.ok(!second.ok)
    assert.equal(second.key, 'b')
    assertEntry(second.current, { key: 'b', revision: first.revision, value: '2' })
    assert.deepEqual(harness.keysOf(), ['a', 'b'])
    assert.equal(harness.storage.revision, first.revision)
  })

  test('invalid writes are rejected and do not affect others', async () => {
    const good = harness.put('a', 'one')
    await assert.rejects(harness.put('', 'x'), RangeError)
    await assert.rejects(harness.put('x'.repeat(5000), 'x'), RangeError)
    await assert.rejects(harness.put('a\ud800', 'x'), RangeError)
    const twice = { key: 'b', value: Buffer.from('1'), expect: undefined }
    await assert.rejects(harness.storage.commit([twice, twice]), RangeError)
    const many = Array.from({ length: 1001 }, (_, i) => ({ key: `many/${i}`, value: Buffer.from('x'), expect: undefined }))
    await assert.rejects(harness.storage.commit(many), TooManyWritesError)
    assert.equal(harness.storage.read('many/0'), undefined)
    assert.ok((await good).ok)
    assert.deepEqual(harness.keysOf(), ['a'])
    assert.equal(harness.storage.read('x'.repeat(5000)), undefined)
    assert.deepEqual(harness.keysOf({ start: 'x'.repeat(5000) }), [])
    assert.deepEqual(harness.keysOf({ end: 'x'.repeat(5000) }), ['a'])
  })

  test('of concurrent creates of one key exactly one wins', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => harness.put('a', `writer ${index}`, { expect: 0 })))
    const winners = outcomes.filter(({ ok }) => ok)
    assert.equal(winners.length, 1)
    const current = harness.storage.read('a')
    for (const outcome of outcomes) if (!outcome.ok) assert.deepEqual(outcome.current, current)
  })

  test('of concurrent updates from one revision exactly one wins, in every round', async () => {
    await harness.put('a', 'start')
    for (let round = 0; round < 5; round += 1) {
      const expect = harness.storage.read('a')?.revision ?? -1
      const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => harness.put('a', `${round}.${index}`, { expect })))
      assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    }
  })

  test('commits of one event-loop iteration get increasing revisions in call order', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `k/${String(index).padStart(3, '0')}`)
    const outcomes = await Promise.all(keys.map((key) => harness.put(key, key)))
    const revisions = outcomes.map((outcome) => (outcome.ok ? outcome.revision : 0))
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(revisions).size, keys.length)
    assert.deepEqual(
      keys.map((key) => harness.storage.read(key)?.revision),
      revisions,
    )
  })
}
