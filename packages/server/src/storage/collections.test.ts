// Collections: ranges of whole collections, and key counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectionOfRange, createCollectionCounts, topCollectionOfRange } from './collections.js'

const ranges = [
  { start: 'pods/', end: 'pods0', collection: 'pods', topCollection: 'pods' },
  { start: 'pods/a/', end: 'pods/a0', collection: 'pods/a', topCollection: 'pods' },
  { start: 'pods/a/b/', end: 'pods/a/b0', collection: undefined, topCollection: 'pods' },
  { start: 'pods/a/x', end: 'pods/a0', collection: undefined, topCollection: 'pods' },
  { start: 'pods/a/x', end: 'pods0', collection: undefined, topCollection: 'pods' },
  { start: 'pods/', end: 'pods1', collection: undefined, topCollection: undefined },
  { start: 'pods/', end: 'podt0', collection: undefined, topCollection: undefined },
  { start: 'pods', end: 'pods0', collection: undefined, topCollection: undefined },
  { start: '', end: '~', collection: undefined, topCollection: undefined },
]

for (const { start, end, collection, topCollection } of ranges) {
  test(`collection of the range from '${start}' to '${end}'`, () => {
    assert.equal(collectionOfRange({ start, end }), collection)
    assert.equal(topCollectionOfRange({ start, end }), topCollection)
  })
}

test('counts follow creates and deletes, and report unsaved changes', () => {
  const counts = createCollectionCounts([
    ['pods', 3],
    ['pods/a', 2],
  ])
  counts.add('pods/a/x', 1)
  counts.add('pods/b/x', 1)
  counts.add('nodes/n', 1)
  counts.add('nodes/n', -1)
  counts.add('loose', 1)
  assert.deepEqual(
    ['pods', 'pods/a', 'pods/b', 'nodes', 'loose'].map((name) => counts.countOf(name)),
    [5, 3, 1, 0, 0],
  )
  const unsaved = counts.unsaved()
  assert.deepEqual(Object.fromEntries(unsaved), { pods: 5, 'pods/a': 3, 'pods/b': 1, nodes: 0 })
  counts.add('pods/a/y', 1)
  counts.markSaved(unsaved)
  assert.deepEqual(Object.fromEntries(counts.unsaved()), { pods: 6, 'pods/a': 4 })
})
