// Metadata of small and large objects are the same as those of the whole object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta } from '../api/object.js'
import { atOnce } from '../base/pieces.js'
import { box, boxes, storeOfBoxes } from './fixture.js'
import { leanObject } from './lean-object.js'
import { metadataOf } from './stored-metadata.js'

const known = ({ labels: _, annotations: __, managedFields: ___, ...others }: ObjectMeta) => others

test('metadata are read without the rest of what is large', async () => {
  const store = await storeOfBoxes()
  for (const [name, length, isOwned] of [
    ['small', 10, true],
    ['large', 200_000, true],
    ['unowned', 200_000, false],
  ] as const) {
    const { metadata, ...rest } = box(name, { labels: { 'a"},{': 'metadata' } })
    const finalizers = ['example.com/one']
    const managedFields = [{ manager: 'a', fieldsV1: { 'f:metadata': { 'f:managedFields': {} } } }]
    const annotations = { managedFields: '"metadata":{', a: '\\' }
    const object = {
      ...rest,
      metadata: { ...metadata, finalizers, annotations, ...(isOwned ? { managedFields } : {}) },
      data: { metadata: '}'.repeat(length) },
    }
    const address = { resource: boxes, namespace: 'n', name }
    await store.put(address, store.encode(boxes, object), { expect: 0 })
    const stored = store.read(address)
    assert.ok(stored !== undefined)
    assert.deepEqual(known(metadataOf(stored, boxes)), known(stored.decode(boxes).metadata ?? {}))
    assert.equal('labels' in metadataOf(stored, boxes), name === 'small')
    const { metadata: lean, ...parts } = atOnce(leanObject(stored, boxes))
    const { metadata: whole, ...all } = stored.decode(boxes)
    assert.deepEqual([known(lean ?? {}), parts], [known(whole ?? {}), all])
    assert.equal(lean?.labels === undefined, name !== 'small')
    assert.deepEqual(metadataOf(stored, boxes).finalizers, finalizers)
  }
  store.close()
})

test('the owners of fields of what is large are not read, however many they are', async () => {
  const store = await storeOfBoxes()
  const { metadata, ...rest } = box('owned')
  const fieldsV1 = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f:k${i}`, {}]))
  const object = { ...rest, metadata: { ...metadata, managedFields: [{ manager: 'a', fieldsV1 }] } }
  const address = { resource: boxes, namespace: 'n', name: 'owned' }
  await store.put(address, store.encode(boxes, object), { expect: 0 })
  const stored = store.read(address)
  assert.ok(stored !== undefined)
  assert.equal((metadataOf(stored, boxes) as ObjectMeta).managedFields, undefined)
  assert.equal(metadataOf(stored, boxes).name, 'owned')
  store.close()
})
