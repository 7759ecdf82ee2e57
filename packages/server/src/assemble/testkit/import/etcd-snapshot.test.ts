// Newest live values of etcd snapshots, and snapshots that are refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RandomAccess } from './bolt-database.js'
import { revisionKey, writeBolt, writeSnapshot } from './bolt-writer.fixture.js'
import { type EtcdSnapshot, readEtcdSnapshot } from './etcd-snapshot.js'

function read(bytes: Buffer): EtcdSnapshot {
  const file: RandomAccess = { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) }
  const steps = readEtcdSnapshot(file)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const text = (value: string): Buffer => Buffer.from(value)

const writes = [
  { key: '/registry/a', value: text('a1'), revision: 2 },
  { key: '/registry/b', value: text('b1'), revision: 3 },
  { key: '/registry/a', value: text('a2'), revision: 4 },
  { key: '/registry/c', value: text('c'.repeat(9000)), revision: 5 },
  { key: '/registry/b', revision: 6 },
  { key: '/registry/d', value: text('d1'), revision: 7 },
  { key: '/registry/d', revision: 8 },
  { key: '/registry/d', value: text('d2'), revision: 9 },
  { key: '/registry/e', revision: 12 },
]

for (const hasChecksum of [true, false])
  test(`the newest live value of each key, ${hasChecksum ? 'with' : 'without'} a checksum`, () => {
    const { revision, entries } = read(writeSnapshot(writes, { hasChecksum }))
    assert.equal(revision, 12)
    assert.deepEqual(Array.from(entries, ([key, entry]) => [key, entry.revision, entry.value.toString().slice(0, 2)]).sort(), [
      ['/registry/a', 4, 'a2'],
      ['/registry/c', 5, 'cc'],
      ['/registry/d', 9, 'd2'],
    ])
  })

test('a damaged snapshot is refused by its checksum', () => {
  const bytes = writeSnapshot(writes)
  bytes[bytes.length - 600] = 1
  assert.throws(() => read(bytes), /at byte \d+: the snapshot is damaged: its checksum is [0-9a-f]{64}, expected/)
})

const keyBucket = (...entries: readonly (readonly [Buffer, Buffer])[]): Buffer => writeBolt([{ name: 'key', entries }])

for (const [title, bytes, error] of [
  ['another database', writeBolt([{ name: 'users', entries: [] }]), /has no bucket "key": it is not a snapshot of etcd/],
  [
    'a key that is no revision',
    keyBucket([text('name'), text('')]),
    /at byte 12288: the bucket "key" has a key that is no revision: 6e616d65/,
  ],
  ['a revision beyond 2^53', keyBucket([Buffer.alloc(17, '_'), text('')]), /a key that is no revision/],
  ['revisions out of order', keyBucket([revisionKey(5, false), text('')], [revisionKey(4, false), text('')]), /is out of order/],
  [
    'a value that is no message',
    keyBucket([revisionKey(5, false), text('\n\u007f')]),
    /the value of revision 5 is damaged: unexpected EOF/,
  ],
] as const)
  test(`refuses ${title}`, () => {
    assert.throws(() => read(bytes), error)
  })
