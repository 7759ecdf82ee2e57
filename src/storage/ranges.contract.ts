// Contract of the engines, part two: ordered ranges and counts, now and at older revisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everything, never, type Subject } from './contract-subject.js'
import type { CommitOutcome, Entry, ScannedEntry } from './storage.js'

export function rangesContract(subject: Subject): void {
  test('keys are in byte order', async () => {
    const ordered = [
      'a',
      'a b',
      'a-b',
      'a-b/c',
      'a.b',
      'a/',
      'a/-',
      'a/.',
      'a//',
      'a/b',
      'a/b-c',
      'a/b/c',
      'a0',
      'aa',
      'a~',
      'aé',
      'a中',
      'a\uffee',
      'a😀',
      'b',
    ]
    assert.deepEqual(
      ordered,
      ordered.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    await subject.putAll(...ordered.toReversed())
    assert.deepEqual(subject.keysOf(), ordered)
    assert.deepEqual(subject.keysOf({ start: 'a/', end: 'a0' }), ['a/', 'a/-', 'a/.', 'a//', 'a/b', 'a/b-c', 'a/b/c'])
    assert.deepEqual(subject.keysOf({ start: 'a\uffee' }), ['a\uffee', 'a😀', 'b'])
    for (const [start, end] of [
      ['b', 'a'],
      ['a/', 'a/'],
      ['', ''],
      ['a', ''],
    ] as const) {
      assert.deepEqual(subject.keysOf({ start, end }), [])
      assert.equal(subject.storage.count({ start, end }), 0)
    }
    assert.deepEqual(subject.keysOf({ at: subject.storage.revision - 1 }), ordered.slice(1))
  })

  test('a scan shows what a page does, as far as is wanted', async () => {
    for (const name of ['k/1', 'k/2', 'k/3']) await subject.put(name, name.padEnd(name === 'k/2' ? 100_000 : 100, 'x'))
    const seen: Entry[] = []
    const look = (most: number) => (scanned: ScannedEntry) => {
      const { key, revision, bytes, start, end } = scanned
      seen.push({ key, revision, value: Buffer.from(bytes.subarray(start, end)) })
      return seen.length < most
    }
    subject.storage.scan({ start: 'k/', end: 'l' }, look(9))
    assert.deepEqual(seen, subject.storage.range({ start: 'k/', end: 'l', limit: 9 }).entries)
    seen.length = 0
    subject.storage.scan({ start: 'k/', end: 'l' }, look(2))
    assert.deepEqual(
      seen.map(({ key }) => key),
      ['k/1', 'k/2'],
    )
    for (const range of [
      { start: 'k/2', end: 'k/2' },
      { start: 'l', end: 'k/' },
      { start: 'm', end: 'n' },
    ])
      subject.storage.scan(range, () => assert.fail('there is nothing'))
  })

  test('a page ends early when its values are long, now and then, and is never empty', async () => {
    for (const name of ['k/1', 'k/2', 'k/3', 'k/4']) await subject.put(name, name.padEnd(1000, 'x'))
    const at = subject.storage.revision
    await subject.put('k/0', 'later')
    const page = (start: string, maxBytes: number) => {
      const { entries, more } = subject.storage.range({ start, end: 'l', limit: 9, maxBytes, at })
      return { keys: entries.map(({ key }) => key).join(' '), more }
    }
    assert.deepEqual(page('k/', 1), { keys: 'k/1', more: true })
    assert.deepEqual(page('k/', 2000), { keys: 'k/1 k/2', more: true })
    assert.deepEqual(page('k/3', 2000), { keys: 'k/3 k/4', more: false })
    const { entries, more } = subject.storage.range({ start: 'k/', end: 'l', limit: 9, maxBytes: 2000 })
    assert.deepEqual([entries.map(({ key }) => key), more], [['k/0', 'k/1', 'k/2'], true])
  })

  test('a range is paged: limit, more, start included, end excluded', async () => {
    await subject.putAll('k/1', 'k/2', 'k/3', 'k/4', 'l')
    const page = (start: string, limit: number) => {
      const { entries, more } = subject.storage.range({ start, end: 'l', limit })
      return { keys: entries.map(({ key }) => key).join(' '), more }
    }
    assert.deepEqual(page('k/', 2), { keys: 'k/1 k/2', more: true })
    assert.deepEqual(page('k/2\0', 2), { keys: 'k/3 k/4', more: false })
    assert.deepEqual(page('k/2', 2), { keys: 'k/2 k/3', more: true })
    assert.deepEqual(page('k/', 4), { keys: 'k/1 k/2 k/3 k/4', more: false })
    assert.deepEqual(page('k/', never), { keys: 'k/1 k/2 k/3 k/4', more: false })
  })

  test('a range at an older revision shows what was there, deleted and re-created keys included', async () => {
    const states: { revision: number; entries: readonly Entry[] }[] = []
    const note = () =>
      states.push({ revision: subject.storage.revision, entries: subject.storage.range({ ...everything, limit: never }).entries })
    const steps: (() => Promise<CommitOutcome>)[] = [
      () => subject.put('c/b', 'b1'),
      () => subject.put('c/d', 'd1'),
      () => subject.put('c/a', 'a1'),
      () => subject.put('c/b', 'b2'),
      () => subject.remove('c/d'),
      () => subject.put('other/x', 'x1'),
      () => subject.put('c/d', 'd2'),
      () => subject.remove('c/a'),
      () => subject.put('c/c', 'c1'),
      () => subject.remove('c/c'),
      () => subject.put('c/b', 'b3'),
      () => subject.remove('other/x'),
    ]
    note()
    for (const step of steps) {
      await step()
      note()
    }
    for (const { revision, entries } of states) {
      assert.deepEqual(subject.storage.range({ ...everything, limit: never, at: revision }), { entries, more: false })
      const inCollection = entries.filter(({ key }) => key.startsWith('c/'))
      const collection = { start: 'c/', end: 'c0' }
      assert.deepEqual(subject.storage.range({ ...collection, limit: never, at: revision }).entries, inCollection)
      assert.equal(subject.storage.count(collection, revision), inCollection.length)
      assert.equal(subject.storage.count(everything, revision), entries.length)
      const paged: Entry[] = []
      for (let start = '', more = true; more; ) {
        const page = subject.storage.range({ start, end: everything.end, limit: 1, at: revision })
        paged.push(...page.entries)
        more = page.more
        start = `${page.entries.at(-1)?.key}\0`
      }
      assert.deepEqual(paged, entries)
    }
  })

  test('an older revision stays readable while writes go on', async () => {
    const at = await subject.putAll('k/1', 'k/2', 'k/3')
    assert.deepEqual(subject.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    await subject.remove('k/2')
    await subject.putAll('k/0', 'k/4')
    assert.deepEqual(subject.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    await subject.putAll('k/2', 'k/5')
    assert.deepEqual(subject.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }, at), 3)
    assert.equal(subject.storage.range({ ...everything, limit: 9, at }).entries[1]?.value.toString(), 'value of k/2')
  })

  test('a range or count at a revision that is not there yet is refused', () => {
    const at = subject.storage.revision + 1
    assert.throws(() => subject.storage.range({ ...everything, limit: 1, at }), RangeError)
    assert.throws(() => subject.storage.count(everything, at), RangeError)
  })

  test('counts: collections, namespaces, any range; now and then', async () => {
    const at = await subject.putAll('pods/a/1', 'pods/a/2', 'pods/b/1', 'pods-x/a/1', 'nodes/1', 'loose')
    await subject.put('pods/a/1', 'again')
    await subject.remove('pods/a/2')
    await subject.putAll('pods/b/2', 'pods/c/1', 'nodes/2')
    const rows = [
      { range: { start: 'pods/', end: 'pods0' }, now: 4, atThen: 3 },
      { range: { start: 'pods/a/', end: 'pods/a0' }, now: 1, atThen: 2 },
      { range: { start: 'pods/b/', end: 'pods/b0' }, now: 2, atThen: 1 },
      { range: { start: 'pods/d/', end: 'pods/d0' }, now: 0, atThen: 0 },
      { range: { start: 'nodes/', end: 'nodes0' }, now: 2, atThen: 1 },
      { range: { start: 'pods/a/1', end: 'pods/b/2' }, now: 2, atThen: 3 },
      { range: everything, now: 8, atThen: 6 },
    ]
    for (const { range, now, atThen } of rows) {
      assert.equal(subject.storage.count(range), now, `${range.start} now`)
      assert.equal(subject.storage.count(range, at), atThen, `${range.start} then`)
    }
  })

  test('entries keep their bytes while others are read and written', async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `k/${index}`)
    await Promise.all(keys.map((key) => subject.put(key, key.repeat(20))))
    const held = [
      ...subject.storage.range({ ...everything, limit: never }).entries,
      ...keys.map((key) => subject.storage.read(key) as Entry),
    ]
    await Promise.all(keys.map((key) => subject.put(key, 'overwritten')))
    subject.storage.range({ ...everything, limit: never })
    for (const { key, value } of held) assert.equal(value.toString(), key.repeat(20))
  })

  test('10,000 keys: pages and counts stay quick', async () => {
    const value = Buffer.from('x')
    const keys = Array.from({ length: 10_000 }, (_, index) => `k/n${index % 10}/${index * 7919}`)
    await Promise.all(keys.map((key) => subject.storage.commit([{ key, value, expect: 0 }])))
    const started = performance.now()
    for (let round = 0; round < 20; round += 1) {
      assert.equal(subject.storage.count({ start: 'k/', end: 'k0' }), 10_000)
      assert.equal(subject.storage.count({ start: 'k/n3/', end: 'k/n30' }), 1_000)
      assert.equal(subject.storage.range({ start: 'k/n7/', end: 'k/n70', limit: 50 }).entries.length, 50)
    }
    assert.ok(performance.now() - started < 10_000)
  })
}
