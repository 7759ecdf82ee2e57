// Storage contract (tests of every engine), part 3: history of changes, followers and compaction.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Change, CompactedError } from '../storage.js'
import { type ContractHarness, everything, sameBytes } from './contract-harness.js'

export function changesContract(harness: ContractHarness): void {
  test('changes have the previous and the new value, in order', async () => {
    const after = harness.storage.revision
    const created = await harness.put('a', '1')
    const updated = await harness.put('a', '2')
    const deleted = await harness.remove('a')
    const again = await harness.put('a', '3')
    assert.ok(created.ok && updated.ok && deleted.ok && again.ok)
    const entry = (revision: number, value: string) => ({ key: 'a', revision, value: Buffer.from(value) })
    assert.deepEqual(harness.allChanges(after), [
      { key: 'a', revision: created.revision, value: Buffer.from('1'), previous: undefined },
      { key: 'a', revision: updated.revision, value: Buffer.from('2'), previous: entry(created.revision, '1') },
      { key: 'a', revision: deleted.revision, value: undefined, previous: entry(updated.revision, '2') },
      { key: 'a', revision: again.revision, value: Buffer.from('3'), previous: undefined },
    ])
  })

  test('changes are paged, filtered by key range, and resume without gap or repetition', async () => {
    const after = harness.storage.revision
    for (let index = 0; index < 30; index += 1) await harness.put(`${index % 3 === 0 ? 'k' : 'other'}/${index % 10}`, `${index}`)
    const all = harness.allChanges(after)
    assert.equal(all.length, 30)
    for (const limit of [1, 2, 7, 100]) {
      assert.deepEqual(harness.allChanges(after, everything, limit), all)
      const inRange = harness.allChanges(after, { start: 'k/', end: 'k0' }, limit)
      assert.deepEqual(
        inRange,
        all.filter(({ key }) => key.startsWith('k/')),
      )
    }
    const page = harness.storage.changes({ ...everything, after, limit: 4 })
    assert.equal(page.changes.length, 4)
    assert.equal(page.upTo, page.changes.at(-1)?.revision)
    assert.deepEqual(harness.storage.changes({ ...everything, after: harness.storage.revision, limit: 1 }), {
      changes: [],
      upTo: harness.storage.revision,
    })
  })

  test('a page of changes does not split a commit, and keeps its order', async () => {
    const after = harness.storage.revision
    const writes = ['b', 'a', 'c'].map((key) => ({ key, value: Buffer.from(key), expect: undefined }))
    const outcome = await harness.storage.commit(writes)
    await harness.put('d', 'd')
    const page = harness.storage.changes({ ...everything, after, limit: 2 })
    assert.ok(outcome.ok)
    assert.deepEqual(
      page.changes.map(({ key, revision }) => ({ key, revision })),
      ['b', 'a', 'c'].map((key) => ({ key, revision: outcome.revision })),
    )
    assert.equal(page.upTo, outcome.revision)
    assert.deepEqual(
      harness.allChanges(page.upTo).map(({ key }) => key),
      ['d'],
    )
  })

  test('a follower gets every later change in order, when the revision moves and before the write is acknowledged', async () => {
    await harness.put('early', 'x')
    const after = harness.storage.revision
    const seen: Change[] = []
    const problems: string[] = []
    const unfollow = harness.storage.follow((changes) => {
      for (const change of changes) {
        if (change.revision < (seen.at(-1)?.revision ?? after)) problems.push(`out of order: ${change.revision}`)
        seen.push(change)
      }
      if (harness.storage.revision !== changes.at(-1)?.revision) problems.push(`revision is ${harness.storage.revision}`)
      const { key, value } = seen.at(-1) as Change
      if (!sameBytes(harness.storage.read(key)?.value, value)) problems.push(`${key} is not yet readable`)
    })
    const writes = Array.from({ length: 40 }, async (_, index) => {
      const before = seen.length
      const outcome = await harness.put(`k/${index % 7}`, `${index}`)
      if (!outcome.ok || seen.length === before) problems.push(`acknowledged before followers knew: ${index}`)
      if (outcome.ok && harness.storage.revision < outcome.revision) problems.push('acknowledged before the revision moved')
    })
    const { revision } = harness.storage
    assert.equal(harness.storage.read('k/1'), undefined, 'a write is not visible in the event-loop iteration that requested it')
    assert.equal(revision, after)
    await Promise.all(writes)
    await harness.remove('k/3')
    assert.deepEqual(problems, [])
    assert.deepEqual(seen, harness.allChanges(after))
    unfollow()
    await harness.put('late', 'x')
    assert.equal(seen.length, 41)
  })

  test('a watcher that pages through history and then follows sees everything once', async () => {
    let isWriting = true
    const after = harness.storage.revision
    const writing = Promise.all(
      Array.from({ length: 5 }, async (_, writer) => {
        for (let index = 0; index < 20; index += 1) await harness.put(`k/${writer}`, `${index}`)
      }),
    ).then(() => {
      isWriting = false
    })
    const seen: number[] = []
    let from = after
    while (isWriting && seen.length < 30) {
      const page = harness.storage.changes({ ...everything, after: from, limit: 5 })
      seen.push(...page.changes.map(({ revision }) => revision))
      from = page.upTo
      await sleep(1)
    }
    for (let done = false; !done; done = from === harness.storage.revision) {
      const page = harness.storage.changes({ ...everything, after: from, limit: 5 })
      seen.push(...page.changes.map(({ revision }) => revision))
      from = page.upTo
    }
    harness.storage.follow((changes) => seen.push(...changes.map(({ revision }) => revision)))
    await writing
    assert.deepEqual(
      seen,
      harness.allChanges(after).map(({ revision }) => revision),
    )
  })

  test('a follower that throws does not affect others', async () => {
    const seen: string[] = []
    harness.storage.follow(() => {
      throw new Error('a follower that fails')
    })
    harness.storage.follow((changes) => seen.push(...changes.map(({ key }) => key)))
    assert.ok((await harness.put('a', '1')).ok)
    assert.ok((await harness.put('b', '1')).ok)
    assert.deepEqual(seen, ['a', 'b'])
  })

  test('compacted history is rejected, later history stays', async () => {
    const start = harness.storage.revision
    const old = await harness.putAll('k/1', 'k/2')
    await harness.put('k/1', 'newer')
    const at = harness.storage.revision
    await harness.remove('k/2')
    await harness.storage.compact(at)
    assert.equal(harness.storage.compacted, at)
    for (const revision of [start, old, at - 1]) {
      const isCompacted = (error: unknown) => error instanceof CompactedError && error.compacted === at
      assert.throws(() => harness.storage.changes({ ...everything, after: revision, limit: 1 }), isCompacted)
      assert.throws(() => harness.storage.range({ ...everything, limit: 1, at: revision }), isCompacted)
      assert.throws(() => harness.storage.count(everything, revision), isCompacted)
    }
    assert.deepEqual(harness.keysOf({ at }), ['k/1', 'k/2'])
    assert.equal(harness.storage.count({ start: 'k/', end: 'k0' }, at), 2)
    assert.deepEqual(
      harness.allChanges(at).map(({ key, value, previous }) => ({ key, value, previous: previous?.value.toString() })),
      [{ key: 'k/2', value: undefined, previous: 'value of k/2' }],
    )
    assert.deepEqual(harness.keysOf(), ['k/1'])
  })

  test('the compacted revision never decreases, and may reach the newest revision', async () => {
    const old = await harness.putAll('k/1', 'k/2')
    const now = await harness.putAll('k/3')
    await Promise.all([harness.storage.compact(now), harness.storage.compact(old)])
    await harness.storage.compact(old)
    assert.equal(harness.storage.compacted, now)
    assert.deepEqual(harness.allChanges(now), [])
    assert.deepEqual(harness.keysOf({ at: now }), ['k/1', 'k/2', 'k/3'])
    const next = await harness.put('k/4', 'x')
    assert.ok(next.ok && next.revision > now)
    assert.deepEqual(
      harness.allChanges(now).map(({ key }) => key),
      ['k/4'],
    )
  })
}
