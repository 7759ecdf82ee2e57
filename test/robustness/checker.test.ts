// The judge is judged: a history that is right passes, and one with any single thing wrong does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomFrom } from '../kit/seeded-random.js'
import { judge } from './checker.js'
import type { Listing, Read, Record, Seen, Version, Watching, Write } from './history.js'

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

type WriteInput = Pick<Write, 'verb' | 'key' | 'mark'> & Partial<Write>

/** The write that made a revision takes from ten times that revision to five later. */
const write = (revision: number, { outcome, ...input }: WriteInput): Write => ({
  what: 'write',
  client: 'c',
  server: 's',
  startMs: revision * 10,
  endMs: revision * 10 + 5,
  outcome: outcome ?? { kind: 'ok' },
  ...input,
})

const made = (made: Version, input: Omit<WriteInput, 'key' | 'mark'>): Write =>
  write(made.revision, { key: made.key, mark: `m${made.revision}`, group: made.group, outcome: { kind: 'ok', version: made }, ...input })

const read = (atMs: number, input: Pick<Read, 'key' | 'found'> & Partial<Read>): Read => ({
  what: 'read',
  client: 'c',
  server: 's',
  startMs: atMs,
  endMs: atMs + 1,
  freshness: 'recent',
  ...input,
})

const list = (atMs: number, input: Pick<Listing, 'pages'> & Partial<Listing>): Listing => ({
  what: 'list',
  client: 'c',
  server: 's',
  startMs: atMs,
  endMs: atMs + 1,
  freshness: 'recent',
  group: undefined,
  isWhole: true,
  ...input,
})

const seen = (type: Seen['type'], of: Version, revision = of.revision): Seen => ({
  type,
  revision,
  atMs: revision * 10 + 6,
  version: { ...of, revision },
})

const story: readonly Seen[] = [
  seen('ADDED', a11),
  seen('MODIFIED', a12),
  seen('MODIFIED', a13),
  seen('ADDED', b14),
  seen('DELETED', a13, 15),
  seen('ADDED', a16),
  seen('MODIFIED', b17),
]

const watch = (input: Partial<Watching>): Watching => ({
  what: 'watch',
  client: 'w',
  server: 's',
  startMs: 100,
  endMs: 300,
  from: base,
  group: undefined,
  seen: story,
  ending: 'ended',
  ...input,
})

const writes: readonly Write[] = [
  made(a11, { verb: 'create' }),
  made(a12, { verb: 'update', expectRevision: 11 }),
  made(a13, { verb: 'patch', expectV: 'm12' }),
  made(b14, { verb: 'create' }),
  write(15, { verb: 'delete', key: 'a', mark: '', expectUid: 'uid-a', outcome: { kind: 'ok', uid: 'uid-a' } }),
  made(a16, { verb: 'create' }),
  made(b17, { verb: 'update' }),
]

const others: readonly Record[] = [
  // Overtaken by the write of revision 12.
  write(12.1, {
    verb: 'update',
    key: 'a',
    mark: 'late',
    expectRevision: 11,
    outcome: { kind: 'refused', status: 409, reason: 'Conflict' },
  }),
  write(12.3, { verb: 'create', key: 'a', mark: 'again', outcome: { kind: 'refused', status: 409, reason: 'AlreadyExists' } }),
  write(15.6, { verb: 'patch', key: 'a', mark: 'gone', outcome: { kind: 'refused', status: 404, reason: 'NotFound' } }),
  write(17.6, { verb: 'update', key: 'b', mark: 'never seen', outcome: { kind: 'unknown', why: 'ECONNRESET' } }),
  read(127, { key: 'a', found: a12 }),
  read(157, { key: 'a', found: undefined }),
  read(177, { key: 'b', found: b14, freshness: 'any' }),
  read(177, { key: 'b', found: b17, freshness: { least: 16 } }),
  list(147, {
    pages: [
      { revision: 14, versions: [a13] },
      { revision: 14, versions: [b14] },
    ],
  }),
  list(178, { pages: [{ revision: 17, versions: [b17] }], group: 'y' }),
  list(178, { pages: [{ revision: 12, versions: [a12] }], freshness: { exactly: 12 } }),
  watch({ from: 13, seen: [...story.slice(3), { type: 'BOOKMARK', revision: 17, atMs: 190 }], client: 'from 13' }),
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
  watch({ from: 'recent', startMs: 147, seen: [seen('ADDED', a13), seen('ADDED', b14), ...story.slice(4)].map(later(148)) }),
]

function later(ms: number): (each: Seen) => Seen {
  return (each) => ({ ...each, atMs: Math.max(each.atMs, ms) })
}

const right: readonly Record[] = [...writes, ...others, watch({})]
const rulesOf = (records: readonly Record[]): readonly string[] => [...judge({ records, base }).counts.keys()]
const without = (...left: readonly Record[]): readonly Record[] => right.filter((record) => !left.includes(record))
const instead = (index: number, change: Partial<Write>): readonly Record[] =>
  right.map((record) => (record === writes[index] ? { ...writes[index], ...change } : record))
const whole = right.at(-1) as Watching
const withWatch = (change: Partial<Watching>): readonly Record[] => [...without(whole), watch({ ...change, client: 'broken' }), whole]
const dropped = (index: number): readonly Seen[] => story.filter((_, i) => i !== index)

test('a history that is right is found to be right, in any order of its records', () => {
  assert.deepEqual(rulesOf(right), [])
  const random = randomFrom(1)
  for (let round = 0; round < 20; round += 1) {
    const shuffled = right.map((record) => ({ record, place: random.next() })).sort((a, b) => a.place - b.place)
    assert.deepEqual(rulesOf(shuffled.map(({ record }) => record)), [])
  }
})

test('a write in doubt may have happened, even later', () => {
  const c18 = version('c', 18, { v: 'slow' })
  const doubtful = write(11.8, { verb: 'create', key: 'c', mark: 'slow', group: 'x', outcome: { kind: 'unknown', why: 'timeout' } })
  assert.deepEqual(rulesOf([...right, doubtful]), [])
  assert.deepEqual(rulesOf([...without(whole), doubtful, watch({ seen: [...story, seen('ADDED', c18)] })]), [])
})

test('where no watch looked, what cannot be known is not held against anybody', () => {
  const lookedAway = without(...right.filter((record) => record.what === 'watch'))
  assert.deepEqual(rulesOf(lookedAway), [])
})

/** No watch looked from revision 13 to 15, where `b` was made and `a` deleted. */
const blind: readonly Record[] = [...writes, watch({ seen: story.slice(0, 3) }), watch({ from: 15, seen: story.slice(5) })]
const inventory = list(157, { pages: [{ revision: 15, versions: [b14] }] })
const beginning = (...state: readonly Seen[]): Watching =>
  watch({ client: 'late', from: 'recent', startMs: 159, seen: [...state, ...story.slice(5)].map(later(160)) })

test('after a stretch where no watch looked, a list in one piece makes things clear again', () => {
  const [isRight, isWrong] = [beginning(seen('ADDED', b14)), beginning(seen('ADDED', a13), seen('ADDED', b14))]
  assert.deepEqual(rulesOf([...blind, isRight]), [])
  assert.deepEqual(rulesOf([...blind, inventory, isRight]), [])
  assert.notDeepEqual(rulesOf([...blind, inventory, isWrong]), [])
  const selected = watch({ client: 'selected', group: 'x', seen: [seen('ADDED', a11), seen('MODIFIED', a12), seen('DELETED', a12, 13)] })
  const further = { ...selected, seen: [...selected.seen, seen('ADDED', b14), seen('ADDED', a16), seen('DELETED', b14, 17)] }
  assert.deepEqual(rulesOf([...blind, selected, further]), [])
})

const cases: readonly { readonly name: string; readonly records: readonly Record[]; readonly rule: string }[] = [
  {
    name: 'an acknowledged write that nobody sees',
    records: [...writes, watch({ seen: dropped(6) }), watch({ from: 16, seen: [{ type: 'BOOKMARK', revision: 18, atMs: 200 }] })],
    rule: 'a lost write',
  },
  {
    name: 'an acknowledged deletion that never happened',
    records: [...writes.slice(0, 5), watch({ seen: story.slice(0, 4) })],
    rule: 'a lost deletion',
  },
  {
    name: 'a read of now that shows before',
    records: [...right, read(168, { key: 'b', found: b14 }), read(178, { key: 'b', found: b14 })],
    rule: 'a stale read',
  },
  { name: 'a read of now that overlooks', records: [...right, read(178, { key: 'b', found: undefined })], rule: 'a stale read' },
  {
    name: 'a read that is older than asked for',
    records: [...right, read(178, { key: 'a', found: a12, freshness: { least: 14 } })],
    rule: 'a stale read',
  },
  {
    name: 'a list of now that shows before',
    records: [...right, list(178, { pages: [{ revision: 14, versions: [a13, b14] }] })],
    rule: 'a stale list',
  },
  {
    name: 'pages of two states',
    records: [
      ...right,
      list(147, {
        pages: [
          { revision: 14, versions: [a13] },
          { revision: 17, versions: [b17] },
        ],
      }),
    ],
    rule: 'mixed pages',
  },
  {
    name: 'pages that say one state and show another',
    records: [
      ...right,
      list(147, {
        pages: [
          { revision: 14, versions: [a13] },
          { revision: 14, versions: [b17] },
        ],
      }),
    ],
    rule: 'a list of no state',
  },
  {
    name: 'a list that leaves out',
    records: [...right, list(147, { pages: [{ revision: 14, versions: [a13] }] })],
    rule: 'a list of no state',
  },
  {
    name: 'a list that shows what is gone',
    records: [...right, list(157, { pages: [{ revision: 15, versions: [a13, b14] }] })],
    rule: 'a list of no state',
  },
  {
    name: 'a list that shows twice',
    records: [...right, list(147, { pages: [{ revision: 14, versions: [a13, a13, b14] }] })],
    rule: 'order of a list',
  },
  {
    name: 'a list of another version than asked for',
    records: [...right, list(178, { pages: [{ revision: 13, versions: [a13] }], freshness: { exactly: 12 } })],
    rule: 'a list of another state',
  },
  { name: 'a watch with a gap', records: withWatch({ seen: dropped(2) }), rule: 'a gap in a watch' },
  { name: 'a watch that leaves out a deletion', records: withWatch({ seen: dropped(4) }), rule: 'a gap in a watch' },
  { name: 'a watch that begins too late', records: withWatch({ seen: story.slice(1) }), rule: 'a gap in a watch' },
  { name: 'a watch that begins too early', records: withWatch({ from: 13 }), rule: 'order of a watch' },
  {
    name: 'a bookmark before what it stands for',
    records: withWatch({ seen: [...story.slice(0, 3), { type: 'BOOKMARK', revision: 14, atMs: 170 }] }),
    rule: 'a gap in a watch',
  },
  { name: 'a watch that repeats', records: withWatch({ seen: [...story.slice(0, 3), ...story.slice(2)] }), rule: 'order of a watch' },
  {
    name: 'a watch out of order',
    records: withWatch({ seen: [...story.slice(0, 2), ...story.slice(3, 4), ...story.slice(2, 3), ...story.slice(4)] }),
    rule: 'order of a watch',
  },
  {
    name: 'a watch that calls a change an addition',
    records: withWatch({ seen: story.map((each, i) => (i === 1 ? { ...each, type: 'ADDED' as const } : each)) }),
    rule: 'an event of another kind',
  },
  {
    name: 'a watch with a selector that misses a departure',
    records: [...right, watch({ group: 'x', seen: [seen('ADDED', a11), seen('MODIFIED', a12), seen('ADDED', b14)] })],
    rule: 'a gap in a watch',
  },
  {
    name: 'a watch that shows an old state for that of now',
    records: [...right, watch({ from: 'recent', startMs: 158, seen: [seen('ADDED', a13), ...story.slice(3)].map(later(159)) })],
    rule: 'a repeated or invented event',
  },
  {
    name: 'a watch that tells what nobody wrote',
    records: [...without(whole), watch({ seen: [...story, seen('ADDED', version('c', 18))] })],
    rule: 'an invented write',
  },
  {
    name: 'a watch that tells of a deletion that nobody asked for',
    records: [...without(whole), watch({ seen: [...story, seen('DELETED', b17, 18)] })],
    rule: 'an invented deletion',
  },
  {
    name: 'two winners of one condition',
    records: [
      ...right,
      write(18, { verb: 'update', key: 'a', mark: 'm18', expectRevision: 11, outcome: { kind: 'ok', version: version('a', 18) } }),
    ],
    rule: 'two winners',
  },
  {
    name: 'two winners of one deletion',
    records: [...right, write(15.1, { verb: 'delete', key: 'a', mark: '', outcome: { kind: 'ok', uid: 'uid-a' } })],
    rule: 'two winners',
  },
  { name: 'a condition that was not true', records: instead(1, { expectRevision: 10 }), rule: 'conditions of a write' },
  { name: 'a value condition that was not true', records: instead(2, { expectV: 'm11' }), rule: 'conditions of a write' },
  {
    name: 'a patch that undoes what another wrote',
    records: right.map((record) => reversed(record)),
    rule: 'conditions of a write',
  },
  { name: 'a creation of what is there', records: instead(6, { verb: 'create' }), rule: 'conditions of a write' },
  {
    name: 'a write that happened twice',
    records: [...without(whole), watch({ seen: [...story, seen('MODIFIED', { ...b17, revision: 18 }, 18)] })],
    rule: 'a write happened twice',
  },
  {
    name: 'a refused write that happened',
    records: instead(6, { outcome: { kind: 'refused', status: 409, reason: 'Conflict' } }),
    rule: 'a refused write happened',
  },
  {
    name: 'a refusal for something that was not so',
    records: [
      ...right,
      write(17.8, { verb: 'update', key: 'b', mark: 'no', outcome: { kind: 'refused', status: 404, reason: 'NotFound' } }),
    ],
    rule: 'a wrong refusal',
  },
  {
    name: 'a conflict with nobody',
    records: [
      ...right,
      write(17.8, {
        verb: 'update',
        key: 'b',
        mark: 'no',
        expectRevision: 17,
        outcome: { kind: 'refused', status: 409, reason: 'Conflict' },
      }),
    ],
    rule: 'a wrong refusal',
  },
  {
    name: 'a refusal that nobody expects',
    records: [
      ...right,
      write(17.8, { verb: 'create', key: 'd', mark: 'no', outcome: { kind: 'refused', status: 404, reason: 'NotFound' } }),
    ],
    rule: 'an answer nobody expects',
  },
  {
    name: 'a write that is ordered before what was seen before it',
    records: instead(5, { startMs: 180, endMs: 185 }),
    rule: 'order of writes',
  },
  {
    name: 'one revision for two things',
    records: [...right, read(178, { key: 'c', found: version('c', 17), freshness: 'any' })],
    rule: 'one revision, two meanings',
  },
  {
    name: 'an answer to somebody else',
    records: instead(6, { outcome: { kind: 'ok', version: b14 } }),
    rule: 'an answer to somebody else',
  },
]

/** The patch of revision 13 brings back the value that revision 12 had replaced. */
function reversed(record: Record): Record {
  const old = (each: Version): Version => (each.revision === 13 ? { ...each, v: 'm11' } : each)
  if (record.what === 'watch')
    return { ...record, seen: record.seen.map((each) => (each.version ? { ...each, version: old(each.version) } : each)) }
  if (record.what === 'list') return { ...record, pages: record.pages.map((page) => ({ ...page, versions: page.versions.map(old) })) }
  if (record.what === 'write' && record.outcome.kind === 'ok' && record.outcome.version)
    return { ...record, outcome: { kind: 'ok', version: old(record.outcome.version) } }
  return record
}

for (const { name, records, rule } of cases) {
  test(`found: ${name}`, () => {
    const { counts, violations } = judge({ records, base })
    assert.ok(counts.has(rule), `found instead: ${[...counts.keys()].join(', ') || 'nothing'}`)
    const [violation] = violations.filter((each) => each.rule === rule)
    assert.ok(violation && violation.story.length <= 10, 'the story is short')
  })
}
