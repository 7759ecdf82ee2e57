// The owner index follows every change, and reads uid, owners and deletionTimestamp of an entry from its bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import { boxes } from './box-store.fixture.js'
import { bytesOf } from './entry/entry-header.js'
import { encodeStored } from './entry/stored-object.js'
import { rangeOf } from './object-keys.js'
import { ObjectStore } from './object-store.js'
import { hasDeletionTimestamp, mayHaveFinalizers, ownerReferencesIn, uidOf } from './owner-index.js'

const reference = (uid: string, fields: object = {}) => ({ apiVersion: 'v1', kind: 'Box', name: `of "${uid}" ]}`, uid, ...fields })

const boxOf = (name: string, metadata: object): ApiObject =>
  ({ metadata: { name, namespace: 'n', uid: `uid-${name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata } }) as ApiObject

for (const { title, metadata, isTerminating, finalizers } of [
  { title: 'without optional fields', metadata: {}, isTerminating: false, finalizers: false },
  { title: 'with a generation', metadata: { generation: 12_345 }, isTerminating: false, finalizers: false },
  {
    title: 'terminating',
    metadata: { deletionTimestamp: '2021-01-01T00:00:00Z', finalizers: ['x.io/y'] },
    isTerminating: true,
    finalizers: true,
  },
  {
    title: 'terminating, with a generation',
    metadata: { generation: 2, deletionTimestamp: '2021-01-01T00:00:00Z' },
    isTerminating: true,
    finalizers: false,
  },
  {
    title: 'with annotations that contain the same text',
    metadata: {
      annotations: { a: '"deletionTimestamp":"2021"', ownerReferences: '[', b: '"ownerReferences":[{"uid":"no"}],"finalizers":["a"]' },
    },
    isTerminating: false,
    finalizers: false,
  },
]) {
  test(`an entry is read from its bytes: ${title}`, () => {
    const owners = [reference('u1', { blockOwnerDeletion: true }), reference('u2', { controller: true })]
    const withoutOwners = bytesOf({ value: encodeStored(boxes, boxOf('a', metadata)) })
    const owned = bytesOf({ value: encodeStored(boxes, boxOf('a', { ...metadata, ownerReferences: owners })) })
    assert.deepEqual(ownerReferencesIn(owned), owners)
    for (const entry of [withoutOwners, owned]) {
      assert.equal(uidOf(entry), 'uid-a')
      assert.equal(hasDeletionTimestamp(entry), isTerminating)
      assert.equal(mayHaveFinalizers(entry), finalizers)
    }
  })
}

async function setUp() {
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  const events: string[] = []
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
      onOwners: (key) => events.push(`owners ${key}`),
      onDeleted: (uid) => events.push(`deleted ${uid}`),
      onTerminating: (key) => events.push(`terminating ${key}`),
      onDependent: (key) => events.push(`dependent of ${key}`),
      onError: (key) => events.push(`error ${key}`),
    })
  return { store, events, put, remove, follow }
}

test('dependents are created, change owners and are deleted', async () => {
  const { events, put, remove, follow } = await setUp()
  const index = follow()
  const dependents = (uid: string): readonly string[] => [...index.dependentsOf(uid)].sort()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  await put('c', { ownerReferences: [reference('uid-a'), reference('uid-b')] })
  assert.deepEqual(dependents('uid-a'), ['boxes/n/b', 'boxes/n/c'])
  assert.deepEqual(dependents('uid-b'), ['boxes/n/c'])
  assert.deepEqual(events.splice(0), ['owners boxes/n/b', 'owners boxes/n/c'])
  await put('b', { ownerReferences: [reference('uid-a')], labels: { x: 'y' } })
  assert.deepEqual(events, [], 'other fields do not matter')
  await put('c', { ownerReferences: [reference('uid-b')] })
  assert.deepEqual(dependents('uid-a'), ['boxes/n/b'])
  assert.deepEqual(events, [], 'a removed owner needs no action')
  await remove('a')
  assert.deepEqual(events.splice(0), ['deleted uid-a'])
  await remove('c')
  await remove('b')
  assert.deepEqual([dependents('uid-a'), dependents('uid-b'), index.size], [[], [], 0])
  assert.deepEqual(events, [], 'they had no dependents')
})

test('a recreated object counts as a deletion of the former one', async () => {
  const { events, put, follow } = await setUp()
  const index = follow()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  events.length = 0
  await put('a', { generation: 3 })
  assert.deepEqual(events, [])
  await put('a', { uid: 'uid-x' })
  assert.deepEqual(events.splice(0), ['deleted uid-a'])
  await put('a', { uid: 'longer-uid-x' })
  assert.deepEqual(events, [], 'it had no dependents')
  index.close()
})

test('an unreadable entry is reported, and watchers are notified nevertheless', async () => {
  const { store, events, put, follow } = await setUp()
  const index = follow()
  const seen: string[] = []
  store.watch({ resource: boxes, namespace: '', matches: undefined, deliver: ({ object }) => void seen.push(object.key) })
  const value = encodeStored(boxes, boxOf('unreadable', {}))
  value[3] = 99
  await store.put({ resource: boxes, namespace: 'n', name: 'unreadable' }, value, { expect: 0 })
  await put('readable')
  assert.deepEqual(events, ['error boxes/n/unreadable'])
  assert.deepEqual(seen, ['boxes/n/unreadable', 'boxes/n/readable'])
  index.close()
})

test('a watched owner is notified of each change of a dependent', async () => {
  const { events, put, remove, follow } = await setUp()
  const index = follow()
  await put('a')
  await put('b', { ownerReferences: [reference('uid-a')] })
  await put('a', { deletionTimestamp: '2021-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] })
  assert.deepEqual(events.splice(0), ['owners boxes/n/b', 'terminating boxes/n/a'])
  index.watchDependents('uid-a', 'boxes/n/a')
  await put('b', { ownerReferences: [reference('uid-a', { blockOwnerDeletion: false })] })
  await remove('b')
  assert.deepEqual(events.splice(0), ['dependent of boxes/n/a', 'dependent of boxes/n/a'])
})

test('existing objects are indexed while others are written', async () => {
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
