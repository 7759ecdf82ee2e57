// Metadata of small and large objects are the same as those of the whole object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject, ObjectMeta } from '../api/object.js'
import { mostReadAtOnce } from './fields-in-steps.js'
import { box, boxes, storeOfBoxes } from './fixture.js'
import { encodeLean, leanAnnotated, leanObject, leanText, metadataOf } from './lean-object.js'
import { labelsAmong } from './stored-label.js'
import { StoredObject } from './stored-object.js'

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
    const { metadata: lean, ...parts } = leanObject(stored, boxes)
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

const large = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`label-${i}`, 'x'.repeat(10)]))
const unindexed = { ...boxes, indexedFields: undefined }
const ownedFields = (fieldsV1: object) => [{ manager: 'a', fieldsV1 }]

for (const [why, hung] of [
  ['labels and owners of fields', { labels: large, managedFields: ownedFields({ 'f:data': {} }) }],
  [
    'texts that look like the end of owners',
    { labels: large, managedFields: ownedFields({ 'f:]},"data":{': {}, 'f:"]}': {}, 'f:\\': {} }) },
  ],
  ['owners of fields that are none', { labels: large, managedFields: ownedFields({ a: { b: [] }, data: {} }) }],
  ['annotations that look like the end of them', { annotations: { ...large, a: '}', b: ':', c: '}"', d: '\\', managedFields: ':null' } }],
] as const)
  test(`what is large is read and written without ${why}`, async () => {
    const store = await storeOfBoxes()
    const { metadata } = box('large')
    const finalizers = ['a/b']
    const object = { metadata: { ...metadata, finalizers, ...hung }, data: { a: '1' } }
    const stored = new StoredObject({ key: 'large', revision: 3, value: store.encode(boxes, object) })
    const whole = new StoredObject(stored.entry).decode(unindexed)
    const lean = leanObject(stored, unindexed)
    assert.deepEqual({ ...lean, metadata: known(lean.metadata ?? {}) }, { ...whole, metadata: known(whole.metadata ?? {}) })
    assert.deepEqual(leanAnnotated(stored, unindexed).metadata?.annotations, whole.metadata?.annotations)
    for (const data of [{ b: '2' }, undefined]) {
      const written = new StoredObject({ key: 'large', revision: 3, value: encodeLean(stored, unindexed, { ...lean, data } as ApiObject) })
      assert.deepEqual(
        written.decode(unindexed),
        new StoredObject({ ...stored.entry, value: store.encode(unindexed, { ...object, data } as ApiObject) }).decode(unindexed),
      )
      assert.deepEqual(written.labels(), stored.labels())
    }
    assert.throws(() => encodeLean(stored, boxes, lean))
    const changed = { ...lean, data: { b: '2' } } as ApiObject
    assert.deepEqual(JSON.parse(leanText(stored, unindexed, changed)), { apiVersion: 'v1', kind: 'Box', ...whole, data: { b: '2' } })
    const names = ['label-7', 'color', 'f', 'nobody']
    assert.deepEqual(labelsAmong(stored, names), 'labels' in hung ? { 'label-7': large['label-7'] } : {})
    store.close()
  })

test('what is read without labels is the same as what is decoded whole, whatever its texts look like', async () => {
  const store = await storeOfBoxes()
  let seed = 7
  const below = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * most)
  }
  const words = [
    '"metadata":{',
    ']},"data":',
    ']},"color":"',
    ':null',
    '\\',
    '"',
    '}',
    '{',
    ']',
    'é',
    '😀',
    '\n',
    '"managedFields":[',
    'x'.repeat(48),
  ]
  const word = (): string => Array.from({ length: below(4) }, () => words[below(words.length)]).join('')
  const texts = (): Record<string, string> => Object.fromEntries(Array.from({ length: 1 + below(4) }, () => [word(), word()]))
  const maybe = (members: object): object => (below(2) === 0 ? members : {})
  for (let round = 0; round < 100; round++) {
    const pad = 'y'.repeat(mostReadAtOnce - 700 + below(1000))
    const hung = [{ labels: { pad } }, { annotations: { ...texts(), pad } }, { managedFields: ownedFields({ [word()]: {}, [pad]: {} }) }]
    const metadata = {
      ...box(`n${word()}`).metadata,
      ...maybe({ annotations: texts() }),
      ...maybe({ finalizers: [word()] }),
      ...maybe({ managedFields: ownedFields({ [word()]: { [word()]: {} }, ...maybe({ a: { b: [null] }, data: {} }) }) }),
      ...hung[below(hung.length)],
    }
    const object = { metadata, ...maybe({ color: word() }), ...maybe({ data: texts() }) } as ApiObject
    const entry = { key: 'n', revision: 3, value: store.encode(unindexed, object) }
    const stored = new StoredObject(entry)
    const whole = new StoredObject(entry).decode(unindexed)
    const lean = leanObject(stored, unindexed)
    assert.deepEqual({ ...lean, metadata: known(lean.metadata ?? {}) }, { ...whole, metadata: known(whole.metadata ?? {}) })
    assert.deepEqual(leanAnnotated(stored, unindexed).metadata?.annotations, whole.metadata?.annotations)
    assert.deepEqual(known(metadataOf(stored, unindexed)), known(whole.metadata ?? {}))
    const change = { data: { b: '2' } }
    assert.deepEqual(JSON.parse(leanText(stored, unindexed, { ...lean, ...change } as ApiObject)), {
      apiVersion: 'v1',
      kind: 'Box',
      ...whole,
      ...change,
    })
    const written = new StoredObject({ ...entry, value: encodeLean(stored, unindexed, { ...lean, ...change } as ApiObject) })
    assert.deepEqual(written.decode(unindexed), { ...whole, ...change })
  }
  store.close()
})
