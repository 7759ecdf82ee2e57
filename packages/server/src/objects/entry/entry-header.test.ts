// Entry headers of the current format and of format 0.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexVersionFor } from '@cluster-apiserver/api/api/catalog/field-index-version.js'
import { type Box, box, boxes } from '../box-store.fixture.js'
import { apiVersionOf, bytesOf, formatOf, indexVersionOf, ownersOf } from './entry-header.js'
import { oldEntry } from './format-0-entry.fixture.js'
import { encodeStored, isCurrent, type StoredKind, StoredObject } from './stored-object.js'

const boxOwnedBy = (...uids: readonly string[]): Box => ({
  ...box('b', { labels: { a: '1' }, color: 'red' }),
  metadata: {
    ...box('b', { labels: { a: '1' } }).metadata,
    ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Box', name: 'owner', uid })),
  },
})

const entryOf = (value: Buffer) => ({ key: 'boxes/n/b', revision: 7, value })
const renderedJson = (value: Buffer): unknown =>
  JSON.parse(new StoredObject(entryOf(value)).render(Buffer.from('{'), Buffer.from('}'), boxes).toString())

test('format, apiVersion, index and owners are read at any offset', () => {
  const uids = ['f5a5c0a6-6a35-4d0b-9df3-0c2b0a6ef001', 'ü'.repeat(100), 'x'.repeat(70_000), 'f5a5c0a6-6a35-4d0b-9df3-0c2b0a6ef001', '']
  const value = encodeStored(boxes, boxOwnedBy(...uids))
  const padded = Buffer.concat([Buffer.alloc(3, 0xff), value, Buffer.alloc(3, 0xff)])
  for (const entry of [bytesOf({ value }), { bytes: new Uint8Array(padded), start: 3, end: 3 + value.length }]) {
    assert.equal(formatOf(entry), 1)
    assert.equal(apiVersionOf(entry), 'v1')
    assert.equal(indexVersionOf(entry), indexVersionFor(['color']))
    assert.deepEqual(ownersOf(entry), [...new Set(uids)])
  }
  const object = new StoredObject(entryOf(value))
  assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.equal((renderedJson(value) as Box).metadata?.resourceVersion, '7')
})

for (const length of [254, 255, 256, 315]) {
  test(`an apiVersion of ${length} bytes is read back`, () => {
    const storedApiVersion = `${'g'.repeat(length - 3)}/v1`
    const kind: StoredKind = { ...boxes, storedApiVersion, versions: new Map([[storedApiVersion, boxes.versions.get('v1') ?? boxes]]) }
    for (const uids of [[], ['u', 'w']]) {
      const value = encodeStored(kind, boxOwnedBy(...uids))
      assert.equal(apiVersionOf(bytesOf({ value })), storedApiVersion)
      assert.deepEqual(ownersOf(bytesOf({ value })), uids)
      const object = new StoredObject(entryOf(value))
      assert.deepEqual(object.index(kind), { labels: { a: '1' }, fields: { color: 'red' } })
      assert.ok(isCurrent(bytesOf({ value }), kind))
    }
  })
}

test('more than 255 owners are read back', () => {
  const uids = Array.from({ length: 300 }, (_, i) => `uid-${i}`)
  assert.deepEqual(ownersOf(bytesOf({ value: encodeStored(boxes, boxOwnedBy(...uids)) })), uids)
})

test('an entry of format 0 is readable, but its header has neither apiVersion nor owners', () => {
  const value = oldEntry(boxes, boxOwnedBy('u'))
  const object = new StoredObject(entryOf(value))
  assert.equal(formatOf(bytesOf({ value })), 0)
  assert.equal(apiVersionOf(bytesOf({ value })), undefined)
  assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  assert.deepEqual(object.decode(boxes), new StoredObject(entryOf(encodeStored(boxes, boxOwnedBy('u')))).decode(boxes))
  assert.deepEqual(renderedJson(value), renderedJson(encodeStored(boxes, boxOwnedBy('u'))))
  assert.throws(() => ownersOf(bytesOf({ value })), /older format/)
})

test('an entry of a newer format is rejected', () => {
  const value = encodeStored(boxes, box('b'))
  value[3] = 2
  assert.throws(() => ownersOf(bytesOf({ value })), /has format 2, this server knows 1/)
  assert.throws(() => new StoredObject(entryOf(value)).decode(boxes), /has format 2/)
})

test('an entry with an older index is indexed again when it is read, and keeps its labels', () => {
  const size = (object: Box): string => String(Object.keys(object.data ?? {}).length)
  const fields = { size } as NonNullable<StoredKind['indexedFields']>
  const laterKind: StoredKind = { ...boxes, indexedFields: fields, indexVersion: indexVersionFor(['size']) }
  for (const value of [encodeStored(boxes, boxOwnedBy()), oldEntry(boxes, boxOwnedBy())]) {
    const object = new StoredObject(entryOf(value))
    assert.deepEqual(object.labels(), { a: '1' })
    assert.deepEqual(object.index(laterKind), { labels: { a: '1' }, fields: { size: '0' } })
    assert.deepEqual(object.index({ ...boxes, indexedFields: undefined, indexVersion: indexVersionFor([]) }).fields, undefined)
    assert.deepEqual(object.index(boxes), { labels: { a: '1' }, fields: { color: 'red' } })
  }
})

test('an entry of another version is converted when it is decoded', () => {
  type Stored = ReturnType<StoredObject['decode']>
  const schema = { ...boxes.schema }
  const toStored = (object: Stored): Stored => ({ ...object, ...{ color: `new ${(object as Box).color}` } })
  const laterKind: StoredKind = {
    ...boxes,
    storedSchema: schema,
    storedApiVersion: 'v2',
    versions: new Map([
      ['v1', { schema: boxes.schema, toStored, fromStored: undefined }],
      ['v2', { schema, toStored: undefined, fromStored: undefined }],
    ]),
  }
  const object = new StoredObject(entryOf(encodeStored(boxes, boxOwnedBy())))
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.equal((object.decode(laterKind) as Box).color, 'new red')
  assert.equal((object.decode(boxes) as Box).color, 'red')
  assert.deepEqual([isCurrent(bytesOf(object.entry), boxes), isCurrent(bytesOf(object.entry), laterKind)], [true, false])
  const written = new StoredObject(entryOf(encodeStored(laterKind, boxOwnedBy())))
  assert.equal((written.decode(laterKind) as Box).color, 'red')
  assert.throws(() => written.decode(boxes), /request to convert CR from an invalid group\/version: v2/)
})

for (const [name, text] of [
  ['plain', 'plain'],
  ['ünïcode', 'plain'],
  ['plain', 'zwölf 😀 \u2028 é'],
  ['😀', 'é'],
  ['plain', 'half \ud800'],
] as const) {
  test(`multi-byte characters before and after the inserted resourceVersion: ${JSON.stringify([name, text])}`, () => {
    const object: Box = { ...box(name), data: { text } }
    const value = encodeStored(boxes, object)
    const { data, metadata } = renderedJson(value) as Box
    assert.deepEqual(
      { data, name: metadata?.name, version: metadata?.resourceVersion },
      { data: { text: text.toWellFormed() }, name, version: '7' },
    )
    assert.equal((new StoredObject(entryOf(value)).decode(boxes) as Box).data?.['text'], text.toWellFormed())
  })
}
