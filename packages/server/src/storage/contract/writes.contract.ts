// Contract of the engines, part one: writes, their conditions and their revisions.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertEntry, everything, type Subject } from './contract-subject.js'
import { TooManyWritesError } from './storage.js'

export function writesContract(subject: Subject): void {
  test('a new storage is empty, at a revision that no write has', async () => {
    assert.ok(subject.storage.revision >= 1)
    assert.equal(subject.storage.read('a'), undefined)
    assert.deepEqual(subject.storage.range({ ...everything, limit: 10 }), { entries: [], more: false })
    assert.equal(subject.storage.count(everything), 0)
    assert.deepEqual(subject.storage.changes({ ...everything, after: subject.storage.revision, limit: 10 }), {
      changes: [],
      upTo: subject.storage.revision,
    })
    assert.equal(await subject.storage.readIndex(), subject.storage.revision)
  })

  test('what is written is read back with its revision', async () => {
    const before = subject.storage.revision
    const outcome = await subject.put('a', 'one')
    assert.ok(outcome.ok && outcome.revision > before)
    assert.equal(subject.storage.revision, outcome.revision)
    assertEntry(subject.storage.read('a'), { key: 'a', revision: outcome.revision, value: 'one' })
  })

  test('a value may be empty', async () => {
    const outcome = await subject.put('a', '')
    assert.ok(outcome.ok)
    assertEntry(subject.storage.read('a'), { key: 'a', revision: outcome.revision, value: '' })
    assert.equal(subject.storage.count(everything), 1)
  })

  test('a delete removes the key; deleting what is absent changes nothing', async () => {
    await subject.put('a', 'one')
    const gone = await subject.remove('a')
    assert.ok(gone.ok)
    assert.equal(subject.storage.read('a'), undefined)
    assert.deepEqual(await subject.remove('a'), { ok: true, revision: gone.revision })
    assert.deepEqual(await subject.storage.commit([]), { ok: true, revision: gone.revision })
    assert.equal(subject.storage.revision, gone.revision)
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
          await subject.put('other', 'x')
          if (row.existing) await subject.put('a', 'old')
          const before = subject.storage.read('a')
          const revision = subject.storage.revision
          const expect = { absent: 0, current: before?.revision ?? revision, other: revision - 1, any: undefined }[row.expect]
          const outcome = await subject.storage.commit([{ key: 'a', value: isDelete ? undefined : Buffer.from('new'), expect }])
          assert.equal(outcome.ok, row.ok)
          if (!outcome.ok) {
            assert.equal(outcome.key, 'a')
            assert.deepEqual(outcome.current, before)
            assert.deepEqual(subject.storage.read('a'), before)
            assert.equal(subject.storage.revision, revision)
          }
        })
      }
    }
  })

  test('several writes happen together under one revision, or not at all', async () => {
    const { revision } = subject.storage
    const first = await subject.storage.commit([
      { key: 'a', value: Buffer.from('1'), expect: 0 },
      { key: 'b', value: Buffer.from('2'), expect: 0 },
    ])
    assert.ok(first.ok && first.revision > revision)
    assert.deepEqual([subject.storage.read('a')?.revision, subject.storage.read('b')?.revision], [first.revision, first.revision])
    const second = await subject.storage.commit([
      { key: 'c', value: Buffer.from('3'), expect: 0 },
      { key: 'a', value: undefined, expect: first.revision },
      { key: 'b', value: Buffer.from('4'), expect: 0 },
    ])
    assert.ok(!second.ok)
    assert.equal(second.key, 'b')
    assertEntry(second.current, { key: 'b', revision: first.revision, value: '2' })
    assert.deepEqual(subject.keysOf(), ['a', 'b'])
    assert.equal(subject.storage.revision, first.revision)
  })

  test('writes that cannot be carried out are refused and leave the rest alone', async () => {
    const good = subject.put('a', 'one')
    await assert.rejects(subject.put('', 'x'), RangeError)
    await assert.rejects(subject.put('x'.repeat(5000), 'x'), RangeError)
    await assert.rejects(subject.put('a\ud800', 'x'), RangeError)
    const twice = { key: 'b', value: Buffer.from('1'), expect: undefined }
    await assert.rejects(subject.storage.commit([twice, twice]), RangeError)
    const many = Array.from({ length: 1001 }, (_, i) => ({ key: `many/${i}`, value: Buffer.from('x'), expect: undefined }))
    await assert.rejects(subject.storage.commit(many), TooManyWritesError)
    assert.equal(subject.storage.read('many/0'), undefined)
    assert.ok((await good).ok)
    assert.deepEqual(subject.keysOf(), ['a'])
    assert.equal(subject.storage.read('x'.repeat(5000)), undefined)
    assert.deepEqual(subject.keysOf({ start: 'x'.repeat(5000) }), [])
    assert.deepEqual(subject.keysOf({ end: 'x'.repeat(5000) }), ['a'])
  })

  test('of concurrent creates of one key exactly one wins', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => subject.put('a', `writer ${index}`, { expect: 0 })))
    const winners = outcomes.filter(({ ok }) => ok)
    assert.equal(winners.length, 1)
    const current = subject.storage.read('a')
    for (const outcome of outcomes) if (!outcome.ok) assert.deepEqual(outcome.current, current)
  })

  test('of concurrent updates from one revision exactly one wins, in every round', async () => {
    await subject.put('a', 'start')
    for (let round = 0; round < 5; round += 1) {
      const expect = subject.storage.read('a')?.revision ?? -1
      const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => subject.put('a', `${round}.${index}`, { expect })))
      assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    }
  })

  test('commits of one turn get growing revisions in the order of the calls, and are seen together with theirs', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `k/${String(index).padStart(3, '0')}`)
    const outcomes = await Promise.all(keys.map((key) => subject.put(key, key)))
    const revisions = outcomes.map((outcome) => (outcome.ok ? outcome.revision : 0))
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(revisions).size, keys.length)
    assert.deepEqual(
      keys.map((key) => subject.storage.read(key)?.revision),
      revisions,
    )
  })
}
