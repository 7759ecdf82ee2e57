// Tests of the history checker: a correct history passes, and the error in each wrong history is found.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomFrom } from '../kit/seeded-random.js'
import { judge } from './checker.js'
import type { Listing, Read, Record, SeenObject, Version, WatchRecord, Write } from './history.js'

const base = 10

const version = (key: string, revision: number, more: Partial<Version> = {}): Version => ({
  key,
  uid: `uid-${key}`,
  revision,
  v: `m${revision}`,
  p: '',
  group: 'x',
  ...more,
})

const a11 = version('a', 11)
const a12 = version('a', 12)
const a13 = version('a', 13, { v: 'm12', p: 'm13', group: 'y' })
const b14 = version('b', 14)
const a16 = version('a', 16, { uid: 'uid-a2' })
const b17 = version('b', 17, { group: 'y' })

type WriteInput = Pick<Write, 'verb' | 'key' | 'writeId'> & Partial<Write>

/** The write of a revision starts at ten times the revision, in milliseconds, and takes 5 ms. */
const write = (revision: number, { outcome, ...input }: WriteInput): Write => ({
  type: 'write',
  client: 'c',
  server: 's',
  startMs: revision * 10,
  endMs: revision * 10 + 5,
  outcome: outcome ?? { kind: 'ok' },
  ...input,
})

const written = (made: Version, input: Omit<WriteInput, 'key' | 'writeId'>): Write =>
  write(made.revision, { key: made.key, writeId: `m${made.revision}`, group: made.group, outcome: { kind: 'ok', version: made }, ...input })

const read = (atMs: number, input: Pick<Read, 'key' | 'found'> & Partial<Read>): Read => ({
  type: 'read',
  client: 'c',
  server: 's',
  startMs: atMs,
  endMs: atMs + 1,
  freshness: 'recent',
  ...input,
})

const list = (atMs: number, input: Pick<Listing, 'pages'> & Partial<Listing>): Listing => ({
  type: 'list',
  client: 'c',
  server: 's',
  startMs: atMs,
  endMs: atMs + 1,
  freshness: 'recent',
  group: undefined,
  isWhole: true,
  ...input,
})

const refused = (status: number, reason: string): Write['outcome'] => ({ kind: 'refused', status, reason })
const page = (revision: number, ...versions: readonly Version[]) => ({ revision, versions })

const seen = (type: SeenObject['type'], object: Version, revision = object.revision): SeenObject => ({
  type,
  revision,
  atMs: revision * 10 + 6,
  version: { ...object, revision },
})

const allEvents: readonly SeenObject[] = [
  seen('ADDED', a11),
  seen('MODIFIED', a12),
  seen('MODIFIED', a13),
  seen('ADDED', b14),
  seen('DELETED', a13, 15),
  seen('ADDED', a16),
  seen('MODIFIED', b17),
]

const watch = (input: Partial<WatchRecord>): WatchRecord => ({
  type: 'watch',
  client: 'w',
  server: 's',
  startMs: 100,
  endMs: 300,
  from: base,
  group: undefined,
  seen: allEvents,
  ending: 'ended',
  ...input,
})

const writes: readonly Write[] = [
  written(a11, { verb: 'create' }),
  written(a12, { verb: 'update', expectRevision: 11 }),
  written(a13, { verb: 'patch', expectV: 'm12' }),
  written(b14, { verb: 'create' }),
  write(15, { verb: 'delete', key: 'a', writeId: '', expectUid: 'uid-a', outcome: { kind: 'ok', uid: 'uid-a' } }),
  written(a16, { verb: 'create' }),
  written(b17, { verb: 'update' }),
]

const otherRecords: readonly Record[] = [
  // Happens before the write of revision 12.
  write(12.1, {
    verb: 'update',
    key: 'a',
    writeId: 'late',
    expectRevision: 11,
    outcome: refused(409, 'Conflict'),
  }),
  write(12.3, { verb: 'create', key: 'a', writeId: 'again', outcome: refused(409, 'AlreadyExists') }),
  write(15.6, { verb: 'patch', key: 'a', writeId: 'gone', outcome: refused(404, 'NotFound') }),
  write(17.6, { verb: 'update', key: 'b', writeId: 'never seen', outcome: { kind: 'unknown', why: 'ECONNRESET' } }),
  read(127, { key: 'a', found: a12 }),
  read(157, { key: 'a', found: undefined }),
  read(177, { key: 'b', found: b14, freshness: 'any' }),
  read(177, { key: 'b', found: b17, freshness: { least: 16 } }),
  list(147, {
    pages: [page(14, a13), page(14, b14)],
  }),
  list(178, { pages: [page(17, b17)], group: 'y' }),
  list(178, { pages: [page(12, a12)], freshness: { exactly: 12 } }),
  watch({ from: 13, seen: [...allEvents.slice(3), { type: 'BOOKMARK', revision: 17, atMs: 190 }], client: 'from 13' }),
  watch({
    group: 'x',
    seen: [
      seen('ADDED', a11),
      seen('MODIFIED', a12),
      seen('DELETED', a12, 13),
      seen('ADDED', b14),
      seen('ADDED', a16),
      seen('DELETED', b14, 17),
    ],
  }),
  watch({ from: 'recent', startMs: 147, seen: [seen('ADDED', a13), seen('ADDED', b14), ...allEvents.slice(4)].map(shiftedBy(148)) }),
]

function shiftedBy(ms: number): (each: SeenObject) => SeenObject {
  return (each) => ({ ...each, atMs: Math.max(each.atMs, ms) })
}

const correctHistory: readonly Record[] = [...writes, ...otherRecords, watch({})]
const rulesOf = (records: readonly Record[]): readonly string[] => [...judge({ records, base }).counts.keys()]
const without = (...excluded: readonly Record[]): readonly Record[] => correctHistory.filter((record) => !excluded.includes(record))
const withChangedWrite = (index: number, change: Partial<Write>): readonly Record[] =>
  correctHistory.map((record) => (record === writes[index] ? { ...writes[index], ...change } : record))
const fullWatch = correctHistory.at(-1) as WatchRecord
const withWatch = (change: Partial<WatchRecord>): readonly Record[] => [
  ...without(fullWatch),
  watch({ ...change, client: 'broken' }),
  fullWatch,
]
const dropped = (index: number): readonly SeenObject[] => allEvents.filter((_, i) => i !== index)

test('a correct history passes, in any order of its records', () => {
  assert.deepEqual(rulesOf(correctHistory), [])
  const random = randomFrom(1)
  for (let round = 0; round < 20; round += 1) {
    const shuffled = correctHistory.map((record) => ({ record, order: random.next() })).sort((a, b) => a.order - b.order)
    assert.deepEqual(rulesOf(shuffled.map(({ record }) => record)), [])
  }
})

test('a write with unknown result may be applied, also later', () => {
  const c18 = version('c', 18, { v: 'slow' })
  const doubtful = write(11.8, { verb: 'create', key: 'c', writeId: 'slow', group: 'x', outcome: { kind: 'unknown', why: 'timeout' } })
  assert.deepEqual(rulesOf([...correctHistory, doubtful]), [])
  assert.deepEqual(rulesOf([...without(fullWatch), doubtful, watch({ seen: [...allEvents, seen('ADDED', c18)] })]), [])
})

test('without watches, unknown changes are not reported', () => {
  const withoutWatches = without(...correctHistory.filter((record) => record.type === 'watch'))
  assert.deepEqual(rulesOf(withoutWatches), [])
})

/** No watch covers revisions 13 to 15, at which `b` was created and `a` deleted. */
const withGap: readonly Record[] = [...writes, watch({ seen: allEvents.slice(0, 3) }), watch({ from: 15, seen: allEvents.slice(5) })]
const inventory = list(157, { pages: [page(15, b14)] })
const watchFromState = (...state: readonly SeenObject[]): WatchRecord =>
  watch({ client: 'late', from: 'recent', startMs: 159, seen: [...state, ...allEvents.slice(5)].map(shiftedBy(160)) })

test('after a gap in the watches, a complete list restores the checks', () => {
  const [correct, wrong] = [watchFromState(seen('ADDED', b14)), watchFromState(seen('ADDED', a13), seen('ADDED', b14))]
  assert.deepEqual(rulesOf([...withGap, correct]), [])
  assert.deepEqual(rulesOf([...withGap, inventory, correct]), [])
  assert.notDeepEqual(rulesOf([...withGap, inventory, wrong]), [])
  const selected = watch({ client: 'selected', group: 'x', seen: [seen('ADDED', a11), seen('MODIFIED', a12), seen('DELETED', a12, 13)] })
  const longerWatch = { ...selected, seen: [...selected.seen, seen('ADDED', b14), seen('ADDED', a16), seen('DELETED', b14, 17)] }
  assert.deepEqual(rulesOf([...withGap, selected, longerWatch]), [])
})

test('a watch from the state in a gap of the watches is not reported', () => {
  const lost = { kind: 'unknown', why: 'ECONNRESET' } as const
  const selected = { client: 'late', from: 'recent', group: 'x' } as const
  // The deletion of `a` at revision 15 was not acknowledged, and no watch has seen it.
  const gapAt15 = [
    written(a11, { verb: 'create' }),
    written(b14, { verb: 'create' }),
    watch({ seen: [seen('ADDED', a11), seen('ADDED', b14)] }),
    written(b17, { verb: 'update' }),
    watch({ from: 15, seen: [seen('MODIFIED', b17)] }),
  ]
  const deletion = write(14.5, { verb: 'delete', key: 'a', writeId: '', outcome: lost })
  const late = watch({ client: 'late', from: 'recent', startMs: 152, seen: [seen('ADDED', b14)].map(shiftedBy(153)) })
  assert.deepEqual(rulesOf([...gapAt15, deletion, late, inventory]), [])
  // At revision 18, which was possible when the watch began, no object is selected.
  const emptied = [
    ...withGap,
    write(14.2, { verb: 'delete', key: 'a', writeId: '', outcome: lost }),
    watch({ from: 17, seen: [seen('DELETED', a16, 18)] }),
  ]
  const early = watch({ ...selected, startMs: 143, seen: [seen('ADDED', b14)].map(shiftedBy(144)) })
  assert.deepEqual(rulesOf([...emptied, early]), [])
})

/** Wrong histories by the rule that they violate. */
const cases: { readonly [rule: string]: { readonly [name: string]: readonly Record[] } } = {
  'lost write': {
    'an acknowledged write that no watch delivers': [
      ...writes,
      watch({ seen: dropped(6) }),
      watch({ from: 16, seen: [{ type: 'BOOKMARK', revision: 18, atMs: 200 }] }),
    ],
  },
  'lost delete': {
    'an acknowledged delete that is not applied': [...writes.slice(0, 5), watch({ seen: allEvents.slice(0, 4) })],
  },
  'stale read': {
    'a consistent read of an old version': [...correctHistory, read(168, { key: 'b', found: b14 }), read(178, { key: 'b', found: b14 })],
    'a consistent read that misses an object': [...correctHistory, read(178, { key: 'b', found: undefined })],
    'a read older than resourceVersion': [...correctHistory, read(178, { key: 'a', found: a12, freshness: { least: 14 } })],
  },
  'stale list': {
    'a consistent list of an old revision': [...correctHistory, list(178, { pages: [page(14, a13, b14)] })],
  },
  'pages of different revisions': {
    'pages with two revisions': [
      ...correctHistory,
      list(147, {
        pages: [page(14, a13), page(17, b17)],
      }),
    ],
  },
  'inconsistent list': {
    'a page with an object of another revision': [
      ...correctHistory,
      list(147, {
        pages: [page(14, a13), page(14, b17)],
      }),
    ],
    'a list that omits an object': [...correctHistory, list(147, { pages: [page(14, a13)] })],
    'a list with a deleted object': [...correctHistory, list(157, { pages: [page(15, a13, b14)] })],
  },
  'list order': {
    'a list with a duplicate': [...correctHistory, list(147, { pages: [page(14, a13, a13, b14)] })],
  },
  'list at a wrong revision': {
    'a list at another revision than requested': [...correctHistory, list(178, { pages: [page(13, a13)], freshness: { exactly: 12 } })],
  },
  'missed watch event': {
    'a watch with a gap': withWatch({ seen: dropped(2) }),
    'a watch that misses a delete': withWatch({ seen: dropped(4) }),
    'a watch that starts too late': withWatch({ seen: allEvents.slice(1) }),
    'a bookmark that is too new': withWatch({ seen: [...allEvents.slice(0, 3), { type: 'BOOKMARK', revision: 14, atMs: 170 }] }),
    'a watch with a selector that misses an object that ceases to match': [
      ...correctHistory,
      watch({ group: 'x', seen: [seen('ADDED', a11), seen('MODIFIED', a12), seen('ADDED', b14)] }),
    ],
  },
  'watch order': {
    'a watch that starts too early': withWatch({ from: 13 }),
    'a watch that repeats an event': withWatch({ seen: [...allEvents.slice(0, 3), ...allEvents.slice(2)] }),
    'a watch out of order': withWatch({
      seen: [...allEvents.slice(0, 2), ...allEvents.slice(3, 4), ...allEvents.slice(2, 3), ...allEvents.slice(4)],
    }),
  },
  'wrong event type': {
    'a watch that sends ADDED for an update': withWatch({
      seen: allEvents.map((each, i) => (i === 1 ? { ...each, type: 'ADDED' as const } : each)),
    }),
  },
  'repeated or phantom watch event': {
    'a watch with an outdated initial state': [
      ...correctHistory,
      watch({ from: 'recent', startMs: 158, seen: [seen('ADDED', a13), ...allEvents.slice(3)].map(shiftedBy(159)) }),
    ],
  },
  'phantom write': {
    'a watch event without a write': [...without(fullWatch), watch({ seen: [...allEvents, seen('ADDED', version('c', 18))] })],
  },
  'phantom delete': {
    'a watch event without a delete': [...without(fullWatch), watch({ seen: [...allEvents, seen('DELETED', b17, 18)] })],
  },
  'precondition satisfied twice': {
    'two updates with the same resourceVersion': [
      ...correctHistory,
      write(18, { verb: 'update', key: 'a', writeId: 'm18', expectRevision: 11, outcome: { kind: 'ok', version: version('a', 18) } }),
    ],
    'two deletes of one object': [
      ...correctHistory,
      write(15.1, { verb: 'delete', key: 'a', writeId: '', outcome: { kind: 'ok', uid: 'uid-a' } }),
    ],
  },
  'violated precondition': {
    'an update with a wrong resourceVersion': withChangedWrite(1, { expectRevision: 10 }),
    'a JSON patch with a failed test': withChangedWrite(2, { expectV: 'm11' }),
    'a patch that reverts another write': correctHistory.map((record) => reversed(record)),
    'a create of an existing object': withChangedWrite(6, { verb: 'create' }),
  },
  'write applied twice': {
    'one write ID at two revisions': [
      ...without(fullWatch),
      watch({ seen: [...allEvents, seen('MODIFIED', { ...b17, revision: 18 }, 18)] }),
    ],
  },
  'rejected write applied': {
    'an applied write with a Conflict response': withChangedWrite(6, { outcome: refused(409, 'Conflict') }),
  },
  'wrong rejection': {
    'a rejection without a reason': [
      ...correctHistory,
      write(17.8, { verb: 'update', key: 'b', writeId: 'no', outcome: refused(404, 'NotFound') }),
    ],
    'a conflict without another write': [
      ...correctHistory,
      write(17.8, {
        verb: 'update',
        key: 'b',
        writeId: 'no',
        expectRevision: 17,
        outcome: refused(409, 'Conflict'),
      }),
    ],
  },
  'unexpected rejection': {
    'NotFound for a create': [
      ...correctHistory,
      write(17.8, { verb: 'create', key: 'd', writeId: 'no', outcome: refused(404, 'NotFound') }),
    ],
  },
  'write order': {
    'a revision before one that was seen earlier': withChangedWrite(5, { startMs: 180, endMs: 185 }),
  },
  'contradictory revision': {
    'two objects at one revision': [...correctHistory, read(178, { key: 'c', found: version('c', 17), freshness: 'any' })],
  },
  'response of another request': {
    'a response with the object of another write': withChangedWrite(6, { outcome: { kind: 'ok', version: b14 } }),
  },
}

/** The patch of revision 13 restores the value that revision 12 replaced. */
function reversed(record: Record): Record {
  const old = (each: Version): Version => (each.revision === 13 ? { ...each, v: 'm11' } : each)
  if (record.type === 'watch')
    return { ...record, seen: record.seen.map((each) => (each.version ? { ...each, version: old(each.version) } : each)) }
  if (record.type === 'list') return { ...record, pages: record.pages.map((page) => ({ ...page, versions: page.versions.map(old) })) }
  if (record.type === 'write' && record.outcome.kind === 'ok' && record.outcome.version)
    return { ...record, outcome: { kind: 'ok', version: old(record.outcome.version) } }
  return record
}

for (const [rule, histories] of Object.entries(cases)) {
  for (const [name, records] of Object.entries(histories)) {
    test(`found: ${name}`, () => {
      const { counts, violations } = judge({ records, base })
      assert.ok(counts.has(rule), `found instead: ${[...counts.keys()].join(', ') || 'nothing'}`)
      const [violation] = violations.filter((each) => each.rule === rule)
      assert.ok(violation && violation.evidence.length <= 10, 'the list of events is short')
    })
  }
}
