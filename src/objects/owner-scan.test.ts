// Owners are found by looking at headers alone, in steps.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../base/clock.js'
import { openMemoryStorage } from '../storage/memory.js'
import { bytesOf, ownersOf } from './entry-header.js'
import { box, boxes } from './fixture.js'
import { rangeOf } from './keys.js'
import { scanOwnedBy, scanOwners } from './owner-scan.js'
import { encodeStored } from './stored-object.js'

const nameOf = (i: number): string => `b${String(i).padStart(5, '0')}`

function entry(i: number): Buffer {
  const { metadata, ...rest } = box(nameOf(i), { color: 'red' })
  const ownerReferences = [`uid-${i % 10}`, `uid-${i % 7}`].map((uid) => ({ apiVersion: 'v1', kind: 'Box', name: 'o', uid }))
  return encodeStored(boxes, { metadata: { ...metadata, ...(i % 3 === 0 ? { ownerReferences } : {}) }, ...rest })
}

test('what is owned, and by whom', async () => {
  const storage = await openMemoryStorage({ clock: systemClock })
  const count = 2500
  for (let i = 0; i < count; i++) await storage.commit([{ key: `boxes/n/${nameOf(i)}`, value: entry(i), expect: 0 }])
  await storage.commit([{ key: 'boxes/other/x', value: entry(0), expect: 0 }])
  const steps = [...scanOwnedBy(storage, rangeOf(boxes, 'n'), 'uid-4')]
  assert.equal(steps.length, 3)
  const expected = Array.from({ length: count }, (_, i) => i).filter((i) => i % 3 === 0 && (i % 10 === 4 || i % 7 === 4))
  assert.deepEqual(
    steps.flat(),
    expected.map((i) => `boxes/n/${nameOf(i)}`),
  )
  const owned = [...scanOwners(storage, rangeOf(boxes, ''))].flat()
  assert.equal(owned.length, Math.ceil(count / 3) + 1)
  for (const { key, revision, owners } of owned) {
    const found = storage.read(key)
    assert.deepEqual([revision, owners], [found?.revision, found && ownersOf(bytesOf(found))])
  }
  assert.deepEqual([...scanOwnedBy(storage, rangeOf(boxes, ''), 'uid-')].flat(), [])
  await storage.close()
})
