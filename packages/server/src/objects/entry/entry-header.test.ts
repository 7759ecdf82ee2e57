// What an entry says of itself, in its own format and in the one before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexVersionFor } from '../api/index-version.js'
import { apiVersionOf, bytesOf, formatOf, indexVersionOf, isOwnedBy, ownersOf } from './entry-header.js'
import { type Box, box, boxes } from './fixture.js'
import { oldEntry } from './old-entry.fixture.js'
import { encodeStored, isCurrent, type StoredKind, StoredObject } from './stored-object.js'

const owned = (...uids: readonly string[]): Box => ({
  ...box('b', { labels: { a: '1' }, color: 'red' }),
  metadata: {
    ...box('b', { labels: { a: '1' } }).metadata,
    ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Box', name: 'owner', uid })),
  },
})

const entryOf = (value: Buffer) => ({ key: 'boxes/n/b', revision: 7, value })
const wire = (value: Buffer): unknown =>
  JSON.parse(new StoredObject(entryOf(value)).render(Buffer.from('{'), Buffer.from('}'), boxes).toString())

test('an entry says its format, version, index and owners, wherever its bytes are', () => {
  const uids = ['f5a5c0a6-6a35-4d0b-9df3-0c2b0a6ef001', 'ü'.repeat(100), 'x'.repeat(70_000), 'f5a5c0a6-6a35-4d0b-9df3-0c2b0a6ef001', '']
  const value = encodeStored(boxes, owned(...uids))
  const around = Buffer.concat([Buffer.alloc(3, 0xff), value, Buffer.alloc(3, 0xff)])
  for (const entry of [bytesOf({ value }), { bytes: new Uint8Array(around), start: 3, end: 3 + value.length }]) {
    assert.equal(formatOf(entry), 1)
    assert.equal(apiVersionOf(entry), 'v1')
    assert.equal(indexVersionOf(entry), indexVersionFor(['color']))
    assert.deepEqual(ownersOf(entry), [...new Set(uids)])
    for (const uid of uids) assert.equal(isOwnedBy(entry, Buffer.from(uid)), true)
    assert.equal(isOwnedBy(entry, Buffer.from('f5a5c0a6')), false)
  }
  const object = new StoredObject(entryOf(value))
  assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.equal((wire(value) as Box).metadata?.resourceVersion, '7')
})

test('an object without owners has none, and its entry is little longer than it was', () => {
  const value = encodeStored(boxes, box('b'))
  assert.deepEqual(ownersOf(bytesOf({ value })), [])
  assert.equal(isOwnedBy(bytesOf({ value }), Buffer.from('')), false)
  assert.equal(value.length - oldEntry(boxes, box('b')).length, 4 + 1 + 'v1'.length + 1)
})

for (const length of [254, 255, 256, 315]) {
  test(`a group and version of ${length} bytes, as custom kinds may have them`, () => {
    const storedApiVersion = `${'g'.repeat(length - 3)}/v1`
    const kind: StoredKind = { ...boxes, storedApiVersion, versions: new Map([[storedApiVersion, boxes.versions.get('v1') ?? boxes]]) }
    for (const uids of [[], ['u', 'w']]) {
      const value = encodeStored(kind, owned(...uids))
      assert.equal(apiVersionOf(bytesOf({ value })), storedApiVersion)
      assert.deepEqual(ownersOf(bytesOf({ value })), uids)
      const object = new StoredObject(entryOf(value))
      assert.deepEqual(object.index(kind), { labels: { a: '1' }, fields: { color: 'red' } })
      assert.ok(isCurrent(bytesOf({ value }), kind))
    }
  })
}

test('more owners than fit into a byte', () => {
  const uids = Array.from({ length: 300 }, (_, i) => `uid-${i}`)
  assert.deepEqual(ownersOf(bytesOf({ value: encodeStored(boxes, owned(...uids)) })), uids)
})

test('an entry of the format before is read like one of now, but for its owners', () => {
  const value = oldEntry(boxes, owned('u'))
  const object = new StoredObject(entryOf(value))
  assert.equal(formatOf(bytesOf({ value })), 0)
  assert.equal(apiVersionOf(bytesOf({ value })), undefined)
  assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  assert.deepEqual(object.decode(boxes), new StoredObject(entryOf(encodeStored(boxes, owned('u')))).decode(boxes))
  assert.deepEqual(wire(value), wire(encodeStored(boxes, owned('u'))))
  assert.throws(() => ownersOf(bytesOf({ value })), /older format/)
})

test('an entry of a newer format is refused', () => {
  const value = encodeStored(boxes, box('b'))
  value[3] = 2
  assert.throws(() => ownersOf(bytesOf({ value })), /has format 2, this server knows 1/)
  assert.throws(() => new StoredObject(entryOf(value)).decode(boxes), /has format 2/)
})

test('an entry that was indexed by other fields is indexed anew when it is asked, and keeps its labels', () => {
  const size = (object: Box): string => String(Object.keys(object.data ?? {}).length)
  const fields = { size } as NonNullable<StoredKind['indexedFields']>
  const later: StoredKind = { ...boxes, indexedFields: fields, indexVersion: indexVersionFor(['size']) }
  for (const value of [encodeStored(boxes, owned()), oldEntry(boxes, owned())]) {
    const object = new StoredObject(entryOf(value))
    assert.deepEqual(object.labels(), { a: '1' })
    assert.deepEqual(object.index(later), { labels: { a: '1' }, fields: { size: '0' } })
    assert.deepEqual(object.index({ ...boxes, indexedFields: undefined, indexVersion: indexVersionFor([]) }).fields, undefined)
    assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  }
})

test('an entry of another version is decoded from the version in which it was written', () => {
  type Stored = ReturnType<StoredObject['decode']>
  const schema = { ...boxes.schema }
  const toStored = (object: Stored): Stored => ({ ...object, ...{ color: `new ${(object as Box).color}` } })
  const later: StoredKind = {
    ...boxes,
    storedSchema: schema,
    storedApiVersion: 'v2',
    versions: new Map([
      ['v1', { schema: boxes.schema, toStored, fromStored: undefined }],
      ['v2', { schema, toStored: undefined, fromStored: undefined }],
    ]),
  }
  const object = new StoredObject(entryOf(encodeStored(boxes, owned())))
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.equal((object.decode(later) as Box).color, 'new red')
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.deepEqual([isCurrent(bytesOf(object.entry), boxes), isCurrent(bytesOf(object.entry), later)], [true, false])
  const written = new StoredObject(entryOf(encodeStored(later, owned())))
  assert.equal((written.decode(later) as Box).color, 'red')
  assert.throws(() => written.decode(boxes), /request to convert CR from an invalid group\/version: v2/)
})

for (const [name, text] of [
  ['plain', 'plain'],
  ['ünïcode', 'plain'],
  ['plain', 'zwölf 😀 \u2028 é'],
  ['😀', 'é'],
  ['plain', 'half \ud800'],
] as const) {
  test(`texts of several bytes, before the place of the version and behind it: ${JSON.stringify([name, text])}`, () => {
    const object: Box = { ...box(name), data: { text } }
    const value = encodeStored(boxes, object)
    const { data, metadata } = wire(value) as Box
    assert.deepEqual(
      { data, name: metadata?.name, version: metadata?.resourceVersion },
      { data: { text: text.toWellFormed() }, name, version: '7' },
    )
    assert.equal((new StoredObject(entryOf(value)).decode(boxes) as Box).data?.['text'], text.toWellFormed())
  })
}
