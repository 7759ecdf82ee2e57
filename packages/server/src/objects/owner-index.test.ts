// The index of owners is true after every change, and what it says of an entry is what the entry says of itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { openMemoryStorage } from '../storage/memory.js'
import { bytesOf } from './entry-header.js'
import { boxes } from './fixture.js'
import { rangeOf } from './keys.js'
import { ObjectStore } from './object-store.js'
import { isGoing, mayHaveFinalizers, ownerReferencesIn, uidOf } from './owner-fields.js'
import { encodeStored } from './stored-object.js'

const reference = (uid: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'Box', name: `of "${uid}" ]}`, uid, ...more })

const boxOf = (name: string, metadata: object): ApiObject =>
  ({ metadata: { name, namespace: 'n', uid: `uid-${name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata } }) as ApiObject

for (const { title, metadata, going, finalizers } of [
  { title: 'plain', metadata: {}, going: false, finalizers: false },
  { title: 'with a generation', metadata: { generation: 12_345 }, going: false, finalizers: false },
  { title: 'going', metadata: { deletionTimestamp: '2021-01-01T00:00:00Z', finalizers: ['x.io/y'] }, going: true, finalizers: true },
  {
    title: 'going, of some generation',
    metadata: { generation: 2, deletionTimestamp: '2021-01-01T00:00:00Z' },
    going: true,
    finalizers: false,
  },
  {
    title: 'with annotations that look like what they are not',
    metadata: {
      annotations: { a: '"deletionTimestamp":"2021"', ownerReferences: '[', b: '"ownerReferences":[{"uid":"no"}],"finalizers":["a"]' },
    },
    going: false,
    finalizers: false,
  },
]) {
  test(`bytes tell of an object: ${title}`, () => {
    const owners = [reference('u1', { blockOwnerDeletion: true }), reference('u2', { controller: true })]
    const plain = bytesOf({ value: encodeStored(boxes, boxOf('a', metadata)) })
    const owned = bytesOf({ value: encodeStored(boxes, boxOf('a', { ...metadata, ownerReferences: owners })) })
    assert.deepEqual(ownerReferencesIn(owned), owners)
    for (const entry of [plain, owned]) {
      assert.equal(uidOf(entry), 'uid-a')
      assert.equal(isGoing(entry), going)
      assert.equal(mayHaveFinalizers(entry), finalizers)
    }
  })
}

async function setUp() {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const told: string[] = []
  const put = async (name: string, metadata: object = {}): Promise<void> => {
    const before = store.read({ resource: boxes, namespace: 'n', name })
    const value = encodeStored(boxes, boxOf(name, metadata))
    await store.put({ resource: boxes, namespace: 'n', name }, value, { expect: before?.revision ?? 0 })
  }
  const remove = async (name: string): Promise<void> => {
    const stored = store.read({ resource: boxes, namespace: 'n', name })
    if (stored !== undefined) await store.remove(stored)
  }
  const follow = () =>
    store.followOwners({
      isFollowed: (collection) => collection === 'boxes',
      onOwners: (key) => told.push(`owners ${key}`),
      onGone: (uid) => told.push(`gone ${uid}`),
      onGoing: (key) => told.push(`going ${key}`),
      onDependent: (key) => told.push(`dependent of ${key}`),
      onFault: (key) => told.push(`fault ${key}`),
    })
  return { store, told, put, remove, follow }
}

test('dependents come, change their owners and go', async () => {
  const { told, put, remove, follow } = await setUp()
  const index = follow()
  const dependents = (uid: string): readonly string[] => [...index.dependentsOf(uid)].sort()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  await put('c', { ownerReferences: [reference('uid-a'), reference('uid-b')] })
  assert.deepEqual(dependents('uid-a'), ['boxes/n/b', 'boxes/n/c'])
  assert.deepEqual(dependents('uid-b'), ['boxes/n/c'])
  assert.deepEqual(told.splice(0), ['owners boxes/n/b', 'owners boxes/n/c'])
  await put('b', { ownerReferences: [reference('uid-a')], labels: { x: 'y' } })
  assert.deepEqual(told, [], 'other fields are of no concern')
  await put('c', { ownerReferences: [reference('uid-b')] })
  assert.deepEqual(dependents('uid-a'), ['boxes/n/b'])
  assert.deepEqual(told, [], 'one less is nothing to look after')
  await remove('a')
  assert.deepEqual(told.splice(0), ['gone uid-a'])
  await remove('c')
  await remove('b')
  assert.deepEqual([dependents('uid-a'), dependents('uid-b'), index.size], [[], [], 0])
  assert.deepEqual(told, [], 'nobody depended on them')
})

test('an object may name thousands of owners, and then others', async () => {
  const { put, follow } = await setUp()
  const index = follow()
  const owners = (from: number) => Array.from({ length: 20_000 }, (_, i) => reference(`0000-0000-0000-${from + i}`))
  await put('a', { ownerReferences: owners(0) })
  const before = process.cpuUsage()
  await put('a', { ownerReferences: owners(19_999) })
  const { user, system } = process.cpuUsage(before)
  assert.deepEqual(
    [index.size, index.hasDependents('0000-0000-0000-19998'), index.hasDependents('0000-0000-0000-19999')],
    [20_000, false, true],
  )
  assert.ok(user + system < 1_000_000, `it took ${(user + system) / 1000} ms`)
})

test('another object under the same name: the one before is gone', async () => {
  const { told, put, follow } = await setUp()
  const index = follow()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  told.length = 0
  await put('a', { generation: 3 })
  assert.deepEqual(told, [])
  await put('a', { uid: 'uid-x' })
  assert.deepEqual(told.splice(0), ['gone uid-a'])
  await put('a', { uid: 'longer-uid-x' })
  assert.deepEqual(told, [], 'nobody depended on it')
  index.close()
})

test('an entry that cannot be read is told of, and others hear of it nevertheless', async () => {
  const { store, told, put, follow } = await setUp()
  const index = follow()
  const seen: string[] = []
  store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: ({ object }) => void seen.push(object.key) })
  const value = encodeStored(boxes, boxOf('odd', {}))
  value[3] = 99
  await store.put({ resource: boxes, namespace: 'n', name: 'odd' }, value, { expect: 0 })
  await put('even')
  assert.deepEqual(told, ['fault boxes/n/odd'])
  assert.deepEqual(seen, ['boxes/n/odd', 'boxes/n/even'])
  index.close()
})

test('who waits for dependents hears of each', async () => {
  const { told, put, remove, follow } = await setUp()
  const index = follow()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  await put('a', { deletionTimestamp: '2021-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] })
  assert.deepEqual(told.splice(0), ['owners boxes/n/b', 'going boxes/n/a'])
  index.watchDependents('uid-a', 'boxes/n/a')
  await put('b', { ownerReferences: [reference('uid-a', { blockOwnerDeletion: false })] })
  await remove('b')
  assert.deepEqual(told.splice(0), ['dependent of boxes/n/a', 'dependent of boxes/n/a'])
})

test('what was there before is taken in, while others write', async () => {
  const { put, remove, follow } = await setUp()
  for (let i = 0; i < 1200; i++) await put(`b${String(i).padStart(4, '0')}`, { ownerReferences: [reference(`uid-${i % 3}`)] })
  const index = follow()
  const steps = index.scan(rangeOf(boxes, ''))
  const first = steps.next().value
  assert.equal(first?.owned.length, 500)
  await remove('b0000')
  await put('b0001', {})
  await put('b0002', { ownerReferences: [reference('uid-new')] })
  await remove('b1199')
  for (const _ of steps);
  assert.equal(index.size, 1197)
  assert.deepEqual([...index.dependentsOf('uid-new')], ['boxes/n/b0002'])
  assert.equal([...index.dependentsOf('uid-1')].length, 399)
  index.close()
  await put('later', { ownerReferences: [reference('uid-1')] })
  assert.equal(index.size, 0)
})
