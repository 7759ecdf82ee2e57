// Contract of the engines, part three: the history of changes, those who follow it, and its compaction.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { everything, type Subject, sameBytes } from './contract-subject.js'
import { type Change, CompactedError } from './storage.js'

export function changesContract(subject: Subject): void {
  test('changes carry before and after, in order', async () => {
    const after = subject.storage.revision
    const created = await subject.put('a', '1')
    const updated = await subject.put('a', '2')
    const deleted = await subject.remove('a')
    const again = await subject.put('a', '3')
    assert.ok(created.ok && updated.ok && deleted.ok && again.ok)
    const entry = (revision: number, value: string) => ({ key: 'a', revision, value: Buffer.from(value) })
    assert.deepEqual(subject.allChanges(after), [
      { key: 'a', revision: created.revision, value: Buffer.from('1'), previous: undefined },
      { key: 'a', revision: updated.revision, value: Buffer.from('2'), previous: entry(created.revision, '1') },
      { key: 'a', revision: deleted.revision, value: undefined, previous: entry(updated.revision, '2') },
      { key: 'a', revision: again.revision, value: Buffer.from('3'), previous: undefined },
    ])
  })

  test('changes are paged, filtered by key range, and resume without gap or repetition', async () => {
    const after = subject.storage.revision
    for (let index = 0; index < 30; index += 1) await subject.put(`${index % 3 === 0 ? 'k' : 'other'}/${index % 10}`, `${index}`)
    const all = subject.allChanges(after)
    assert.equal(all.length, 30)
    for (const limit of [1, 2, 7, 100]) {
      assert.deepEqual(subject.allChanges(after, everything, limit), all)
      const some = subject.allChanges(after, { start: 'k/', end: 'k0' }, limit)
      assert.deepEqual(
        some,
        all.filter(({ key }) => key.startsWith('k/')),
      )
    }
    const page = subject.storage.changes({ ...everything, after, limit: 4 })
    assert.equal(page.changes.length, 4)
    assert.equal(page.upTo, page.changes.at(-1)?.revision)
    assert.deepEqual(subject.storage.changes({ ...everything, after: subject.storage.revision, limit: 1 }), {
      changes: [],
      upTo: subject.storage.revision,
    })
  })

  test('a page of changes does not split a commit, and keeps its order', async () => {
    const after = subject.storage.revision
    const writes = ['b', 'a', 'c'].map((key) => ({ key, value: Buffer.from(key), expect: undefined }))
    const outcome = await subject.storage.commit(writes)
    await subject.put('d', 'd')
    const page = subject.storage.changes({ ...everything, after, limit: 2 })
    assert.ok(outcome.ok)
    assert.deepEqual(
      page.changes.map(({ key, revision }) => ({ key, revision })),
      ['b', 'a', 'c'].map((key) => ({ key, revision: outcome.revision })),
    )
    assert.equal(page.upTo, outcome.revision)
    assert.deepEqual(
      subject.allChanges(page.upTo).map(({ key }) => key),
      ['d'],
    )
  })

  test('a follower gets every later change in order, exactly when the revision has moved, before the write is acknowledged', async () => {
    await subject.put('early', 'x')
    const after = subject.storage.revision
    const seen: Change[] = []
    const faults: string[] = []
    const unfollow = subject.storage.follow((changes) => {
      for (const change of changes) {
        if (change.revision < (seen.at(-1)?.revision ?? after)) faults.push(`out of order: ${change.revision}`)
        seen.push(change)
      }
      if (subject.storage.revision !== changes.at(-1)?.revision) faults.push(`revision is ${subject.storage.revision}`)
      const { key, value } = seen.at(-1) as Change
      if (!sameBytes(subject.storage.read(key)?.value, value)) faults.push(`${key} is not yet readable`)
    })
    const writes = Array.from({ length: 40 }, async (_, index) => {
      const before = seen.length
      const outcome = await subject.put(`k/${index % 7}`, `${index}`)
      if (!outcome.ok || seen.length === before) faults.push(`acknowledged before followers knew: ${index}`)
      if (outcome.ok && subject.storage.revision < outcome.revision) faults.push('acknowledged before the revision moved')
    })
    const { revision } = subject.storage
    assert.equal(subject.storage.read('k/1'), undefined, 'a write is not visible in the turn that asked for it')
    assert.equal(revision, after)
    await Promise.all(writes)
    await subject.remove('k/3')
    assert.deepEqual(faults, [])
    assert.deepEqual(seen, subject.allChanges(after))
    unfollow()
    await subject.put('late', 'x')
    assert.equal(seen.length, 41)
  })

  test('a watcher that pages through history and then follows sees everything once', async () => {
    let isWriting = true
    const after = subject.storage.revision
    const writing = Promise.all(
      Array.from({ length: 5 }, async (_, writer) => {
        for (let index = 0; index < 20; index += 1) await subject.put(`k/${writer}`, `${index}`)
      }),
    ).then(() => {
      isWriting = false
    })
    const seen: number[] = []
    let from = after
    while (isWriting && seen.length < 30) {
      const page = subject.storage.changes({ ...everything, after: from, limit: 5 })
      seen.push(...page.changes.map(({ revision }) => revision))
      from = page.upTo
      await sleep(1)
    }
    for (let done = false; !done; done = from === subject.storage.revision) {
      const page = subject.storage.changes({ ...everything, after: from, limit: 5 })
      seen.push(...page.changes.map(({ revision }) => revision))
      from = page.upTo
    }
    subject.storage.follow((changes) => seen.push(...changes.map(({ revision }) => revision)))
    await writing
    assert.deepEqual(
      seen,
      subject.allChanges(after).map(({ revision }) => revision),
    )
  })

  test('a failing follower disturbs nobody', async () => {
    const seen: string[] = []
    subject.storage.follow(() => {
      throw new Error('a follower that fails')
    })
    subject.storage.follow((changes) => seen.push(...changes.map(({ key }) => key)))
    assert.ok((await subject.put('a', '1')).ok)
    assert.ok((await subject.put('b', '1')).ok)
    assert.deepEqual(seen, ['a', 'b'])
  })

  test('compacted history is refused, the rest stays', async () => {
    const start = subject.storage.revision
    const old = await subject.putAll('k/1', 'k/2')
    await subject.put('k/1', 'newer')
    const at = subject.storage.revision
    await subject.remove('k/2')
    await subject.storage.compact(at)
    assert.equal(subject.storage.compacted, at)
    for (const revision of [start, old, at - 1]) {
      const isCompacted = (error: unknown) => error instanceof CompactedError && error.compacted === at
      assert.throws(() => subject.storage.changes({ ...everything, after: revision, limit: 1 }), isCompacted)
      assert.throws(() => subject.storage.range({ ...everything, limit: 1, at: revision }), isCompacted)
      assert.throws(() => subject.storage.count(everything, revision), isCompacted)
    }
    assert.deepEqual(subject.keysOf({ at }), ['k/1', 'k/2'])
    assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }, at), 2)
    assert.deepEqual(
      subject.allChanges(at).map(({ key, value, previous }) => ({ key, value, previous: previous?.value.toString() })),
      [{ key: 'k/2', value: undefined, previous: 'value of k/2' }],
    )
    assert.deepEqual(subject.keysOf(), ['k/1'])
  })

  test('compaction never goes back, and may go up to the present', async () => {
    const old = await subject.putAll('k/1', 'k/2')
    const now = await subject.putAll('k/3')
    await Promise.all([subject.storage.compact(now), subject.storage.compact(old)])
    await subject.storage.compact(old)
    assert.equal(subject.storage.compacted, now)
    assert.deepEqual(subject.allChanges(now), [])
    assert.deepEqual(subject.keysOf({ at: now }), ['k/1', 'k/2', 'k/3'])
    const next = await subject.put('k/4', 'x')
    assert.ok(next.ok && next.revision > now)
    assert.deepEqual(
      subject.allChanges(now).map(({ key }) => key),
      ['k/4'],
    )
  })

  test('long histories are compacted while writes go on', async () => {
    await Promise.all(Array.from({ length: 3000 }, (_, index) => subject.put(`k/${index % 100}`, `${index}`)))
    const at = subject.storage.revision
    const compacting = subject.storage.compact(at - 10)
    for (let index = 0; index < 20; index += 1) await subject.put('k/during', `${index}`)
    await compacting
    assert.equal(subject.storage.compacted, at - 10)
    assert.equal(subject.allChanges(at - 10).length, 30)
    assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }), 101)
  })
}
