// Storage contract (tests of every engine), part 2: ordered ranges, scans and counts, at the newest and at older revisions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommitOutcome, Entry, ScannedEntry } from '../storage.js'
import { type ContractHarness, everything, noLimit } from './contract-harness.js'

export function rangesContract(harness: ContractHarness): void {
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
    await harness.putAll(...ordered.toReversed())
    assert.deepEqual(harness.keysOf(), ordered)
    assert.deepEqual(harness.keysOf({ start: 'a/', end: 'a0' }), ['a/', 'a/-', 'a/.', 'a//', 'a/b', 'a/b-c', 'a/b/c'])
    assert.deepEqual(harness.keysOf({ start: 'a\uffee' }), ['a\uffee', 'a😀', 'b'])
    for (const [start, end] of [
      ['b', 'a'],
      ['a/', 'a/'],
      ['', ''],
      ['a', ''],
    ] as const) {
      assert.deepEqual(harness.keysOf({ start, end }), [])
      assert.equal(harness.storage.count({ start, end }), 0)
    }
    assert.deepEqual(harness.keysOf({ at: harness.storage.revision - 1 }), ordered.slice(1))
  })

  test('a scan visits the entries of a page until the visitor stops it', async () => {
    for (const name of ['k/1', 'k/2', 'k/3']) await harness.put(name, name.padEnd(name === 'k/2' ? 100_000 : 100, 'x'))
    const seen: Entry[] = []
    const visit = (max: number) => (scanned: ScannedEntry) => {
      const { key, revision, bytes, start, end } = scanned
      seen.push({ key, revision, value: Buffer.from(bytes.subarray(start, end)) })
      return seen.length < max
    }
    harness.storage.scan({ start: 'k/', end: 'l' }, visit(9))
    assert.deepEqual(seen, harness.storage.range({ start: 'k/', end: 'l', limit: 9 }).entries)
    seen.length = 0
    harness.storage.scan({ start: 'k/', end: 'l' }, visit(2))
    assert.deepEqual(
      seen.map(({ key }) => key),
      ['k/1', 'k/2'],
    )
    for (const range of [
      { start: 'k/2', end: 'k/2' },
      { start: 'l', end: 'k/' },
      { start: 'm', end: 'n' },
    ])
      harness.storage.scan(range, () => assert.fail('the range is empty'))
  })

  test('a page ends at maxBytes, at any revision, and is never empty', async () => {
    for (const name of ['k/1', 'k/2', 'k/3', 'k/4']) await harness.put(name, name.padEnd(1000, 'x'))
    const at = harness.storage.revision
    await harness.put('k/0', 'later')
    const page = (start: string, maxBytes: number) => {
      const { entries, more } = harness.storage.range({ start, end: 'l', limit: 9, maxBytes, at })
      return { keys: entries.map(({ key }) => key).join(' '), more }
    }
    assert.deepEqual(page('k/', 1), { keys: 'k/1', more: true })
    assert.deepEqual(page('k/', 2000), { keys: 'k/1 k/2', more: true })
    assert.deepEqual(page('k/3', 2000), { keys: 'k/3 k/4', more: false })
    const { entries, more } = harness.storage.range({ start: 'k/', end: 'l', limit: 9, maxBytes: 2000 })
    assert.deepEqual([entries.map(({ key }) => key), more], [['k/0', 'k/1', 'k/2'], true])
  })

  test('a range is paged: limit, more, start included, end excluded', async () => {
    await harness.putAll('k/1', 'k/2', 'k/3', 'k/4', 'l')
    const page = (start: string, limit: number) => {
      const { entries, more } = harness.storage.range({ start, end: 'l', limit })
      return { keys: entries.map(({ key }) => key).join(' '), more }
    }
    assert.deepEqual(page('k/', 2), { keys: 'k/1 k/2', more: true })
    assert.deepEqual(page('k/2\0', 2), { keys: 'k/3 k/4', more: false })
    assert.deepEqual(page('k/2', 2), { keys: 'k/2 k/3', more: true })
    assert.deepEqual(page('k/', 4), { keys: 'k/1 k/2 k/3 k/4', more: false })
    assert.deepEqual(page('k/', noLimit), { keys: 'k/1 k/2 k/3 k/4', more: false })
  })

  test('a range at an older revision includes keys that were deleted or recreated later', async () => {
    const states: { revision: number; entries: readonly Entry[] }[] = []
    const recordState = () =>
      states.push({ revision: harness.storage.revision, entries: harness.storage.range({ ...everything, limit: noLimit }).entries })
    const steps: (() => Promise<CommitOutcome>)[] = [
      () => harness.put('c/b', 'b1'),
      () => harness.put('c/d', 'd1'),
      () => harness.put('c/a', 'a1'),
      () => harness.put('c/b', 'b2'),
      () => harness.remove('c/d'),
      () => harness.put('other/x', 'x1'),
      () => harness.put('c/d', 'd2'),
      () => harness.remove('c/a'),
      () => harness.put('c/c', 'c1'),
      () => harness.remove('c/c'),
      () => harness.put('c/b', 'b3'),
      () => harness.remove('other/x'),
    ]
    recordState()
    for (const step of steps) {
      await step()
      recordState()
    }
    for (const { revision, entries } of states) {
      assert.deepEqual(harness.storage.range({ ...everything, limit: noLimit, at: revision }), { entries, more: false })
      const inCollection = entries.filter(({ key }) => key.startsWith('c/'))
      const collection = { start: 'c/', end: 'c0' }
      assert.deepEqual(harness.storage.range({ ...collection, limit: noLimit, at: revision }).entries, inCollection)
      assert.equal(harness.storage.count(collection, revision), inCollection.length)
      assert.equal(harness.storage.count(everything, revision), entries.length)
      const paged: Entry[] = []
      for (let start = '', more = true; more; ) {
        const page = harness.storage.range({ start, end: everything.end, limit: 1, at: revision })
        paged.push(...page.entries)
        more = page.more
        start = `${page.entries.at(-1)?.key}\0`
      }
      assert.deepEqual(paged, entries)
    }
  })

  test('an older revision stays readable during writes', async () => {
    const at = await harness.putAll('k/1', 'k/2', 'k/3')
    assert.deepEqual(harness.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    await harness.remove('k/2')
    await harness.putAll('k/0', 'k/4')
    assert.deepEqual(harness.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    await harness.putAll('k/2', 'k/5')
    assert.deepEqual(harness.keysOf({ at }), ['k/1', 'k/2', 'k/3'])
    assert.equal(harness.storage.count({ start: 'k/', end: 'k0' }, at), 3)
    assert.equal(harness.storage.range({ ...everything, limit: 9, at }).entries[1]?.value.toString(), 'value of k/2')
  })

  test('a range or count at a future revision is rejected', () => {
    const at = harness.storage.revision + 1
    assert.throws(() => harness.storage.range({ ...everything, limit: 1, at }), RangeError)
    assert.throws(() => harness.storage.count(everything, at), RangeError)
  })

  test('counts of collections, namespaces and any range, at any revision', async () => {
    const at = await harness.putAll('pods/a/1', 'pods/a/2', 'pods/b/1', 'pods-x/a/1', 'nodes/1', 'loose')
    await harness.put('pods/a/1', 'again')
    await harness.remove('pods/a/2')
    await harness.putAll('pods/b/2', 'pods/c/1', 'nodes/2')
    const rows = [
      { range: { start: 'pods/', end: 'pods0' }, now: 4, older: 3 },
      { range: { start: 'pods/a/', end: 'pods/a0' }, now: 1, older: 2 },
      { range: { start: 'pods/b/', end: 'pods/b0' }, now: 2, older: 1 },
      { range: { start: 'pods/d/', end: 'pods/d0' }, now: 0, older: 0 },
      { range: { start: 'nodes/', end: 'nodes0' }, now: 2, older: 1 },
      { range: { start: 'pods/a/1', end: 'pods/b/2' }, now: 2, older: 3 },
      { range: everything, now: 8, older: 6 },
    ]
    for (const { range, now, older } of rows) {
      assert.equal(harness.storage.count(range), now, `${range.start} now`)
      assert.equal(harness.storage.count(range, at), older, `${range.start} then`)
    }
  })

  test('bytes of an entry do not change during other reads and writes', async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `k/${index}`)
    await Promise.all(keys.map((key) => harness.put(key, key.repeat(20))))
    const entries = [
      ...harness.storage.range({ ...everything, limit: noLimit }).entries,
      ...keys.map((key) => harness.storage.read(key) as Entry),
    ]
    await Promise.all(keys.map((key) => harness.put(key, 'overwritten')))
    harness.storage.range({ ...everything, limit: noLimit })
    for (const { key, value } of entries) assert.equal(value.toString(), key.repeat(20))
  })
}
