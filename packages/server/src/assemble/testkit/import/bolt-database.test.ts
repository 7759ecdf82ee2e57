// Reads written bbolt databases, whole and damaged.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoltError, type RandomAccess, readBucket } from './bolt-database.js'
import { type BoltOptions, type BucketContent, writeBolt } from './bolt-writer.fixture.js'

const fileOf = (bytes: Buffer): RandomAccess => ({
  size: bytes.length,
  read: (offset, length) => {
    assert.ok(offset >= 0 && length >= 0 && offset + length <= bytes.length, `${length} bytes at ${offset} lie outside of the file`)
    return bytes.subarray(offset, offset + length)
  },
})

const entriesIn = (bytes: Buffer, name: string): readonly string[] =>
  Array.from(readBucket(fileOf(bytes), name) ?? [], ({ key, value }) => `${key}=${value.length}`)

const numbered = (count: number, valueBytes: number): BucketContent['entries'] =>
  Array.from({ length: count }, (_, i) => [Buffer.from(`k${String(i).padStart(6, '0')}`), Buffer.alloc(valueBytes, i % 256)])

const textsOf = (entries: BucketContent['entries']): readonly string[] => entries.map(([key, value]) => `${key}=${value.length}`)

const databases: { readonly [title: string]: { readonly buckets: readonly BucketContent[]; readonly options?: BoltOptions } } = {
  'one leaf page': { buckets: [{ name: 'key', entries: numbered(3, 10) }] },
  'an inline bucket': { buckets: [{ name: 'key', entries: numbered(3, 10), isInline: true }] },
  'branch pages on several levels': { buckets: [{ name: 'key', entries: numbered(2000, 100) }] },
  'overflow pages': { buckets: [{ name: 'key', entries: numbered(7, 20_000) }] },
  'an empty bucket': { buckets: [{ name: 'key', entries: [] }] },
  'several buckets': {
    buckets: [
      { name: 'alarm', entries: [], isInline: true },
      { name: 'auth', entries: numbered(500, 40) },
      { name: 'key', entries: numbered(500, 30) },
      { name: 'lease', entries: numbered(2, 3), isInline: true },
    ],
  },
  'pages of 16 KiB': { buckets: [{ name: 'key', entries: numbered(1000, 100) }], options: { pageBytes: 16_384 } },
  'a damaged first meta': { buckets: [{ name: 'key', entries: numbered(10, 100) }], options: { damagedMetas: [0] } },
  'a damaged second meta': { buckets: [{ name: 'key', entries: numbered(10, 100) }], options: { damagedMetas: [1] } },
}

for (const [title, { buckets, options }] of Object.entries(databases))
  test(`reads ${title}`, () => {
    const bytes = writeBolt(buckets, options)
    for (const { name, entries } of buckets) assert.deepEqual(entriesIn(bytes, name), textsOf(entries))
    assert.equal(readBucket(fileOf(bytes), 'other'), undefined)
  })

const small = (): Buffer => writeBolt([{ name: 'key', entries: numbered(60, 100) }], { pageBytes: 512 })
/** First page of a leaf in `small`, and the number of its pages. */
const firstLeaf = 3 * 512

const damages: { readonly [title: string]: readonly [change: (bytes: Buffer) => Buffer, error: RegExp] } = {
  'without valid metas': [() => writeBolt([], { damagedMetas: [0, 1] }), /at byte 0: both meta pages are damaged/],
  'that is truncated': [(bytes) => bytes.subarray(0, bytes.length - 512), /it is truncated/],
  'whose page has another number': [(bytes) => bytes.fill(0xff, firstLeaf, firstLeaf + 2), /at byte 1536: page 3 has another number/],
  'whose page has other flags': [
    (bytes) => bytes.fill(0x10, firstLeaf + 8, firstLeaf + 9),
    /a branch or leaf page is expected, not flags 16/,
  ],
  'whose page has too many elements': [(bytes) => bytes.fill(0xff, firstLeaf + 10, firstLeaf + 12), /no room for 65535 elements/],
  'whose page is too long': [(bytes) => bytes.fill(0xff, firstLeaf + 12, firstLeaf + 16), /page 3 is longer than the file/],
  'whose element is too long': [(bytes) => bytes.fill(0xff, firstLeaf + 28, firstLeaf + 32), /element 0 of a page lies outside/],
  'whose elements overlap': [
    (bytes) => bytes.fill(0, firstLeaf + 36, firstLeaf + 40),
    /element 1 of a page lies outside of it, or in another/,
  ],
}

for (const [title, [change, error]] of Object.entries(damages))
  test(`refuses a database ${title}`, () => {
    assert.throws(() => entriesIn(change(small()), 'key'), error)
  })

test('a page that is its own child ends in an error', () => {
  const bytes = small()
  // Every reference to page 4 becomes one to page 3.
  for (let at = 16; at + 16 <= bytes.length; at += 8)
    if (bytes.readUInt16LE(at) === 4 && bytes.readUInt32LE(at - 4) === 7) bytes.writeUInt16LE(3, at)
  assert.throws(() => entriesIn(bytes, 'key'), /page 3 is used twice/)
})

test('any damaged byte gives entries or a BoltError, and no read outside of the file', () => {
  const bytes = small()
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [1, 0x80]) {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ bit
      try {
        entriesIn(damaged, 'key')
      } catch (thrown) {
        assert.ok(thrown instanceof BoltError, `byte ${at}: ${thrown}`)
      }
    }
  }
})
