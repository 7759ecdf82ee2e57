// Which ranges are whole collections, and how collections are counted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectionOfRange, createCollectionCounts, topCollectionOfRange } from './collections.js'

const ranges = [
  { start: 'pods/', end: 'pods0', whole: 'pods', top: 'pods' },
  { start: 'pods/a/', end: 'pods/a0', whole: 'pods/a', top: 'pods' },
  { start: 'pods/a/b/', end: 'pods/a/b0', whole: undefined, top: 'pods' },
  { start: 'pods/a/x', end: 'pods/a0', whole: undefined, top: 'pods' },
  { start: 'pods/a/x', end: 'pods0', whole: undefined, top: 'pods' },
  { start: 'pods/', end: 'pods1', whole: undefined, top: undefined },
  { start: 'pods/', end: 'podt0', whole: undefined, top: undefined },
  { start: 'pods', end: 'pods0', whole: undefined, top: undefined },
  { start: '', end: '~', whole: undefined, top: undefined },
]

for (const { start, end, whole, top } of ranges) {
  test(`the range from '${start}' to '${end}'`, () => {
    assert.equal(collectionOfRange({ start, end }), whole)
    assert.equal(topCollectionOfRange({ start, end }), top)
  })
}

test('counts follow creations and deletions, and know what has to be saved', () => {
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
    ['pods', 'pods/a', 'pods/b', 'nodes', 'loose'].map((name) => counts.of(name)),
    [5, 3, 1, 0, 0],
  )
  const unsaved = counts.unsaved()
  assert.deepEqual(Object.fromEntries(unsaved), { pods: 5, 'pods/a': 3, 'pods/b': 1, nodes: 0 })
  counts.add('pods/a/y', 1)
  counts.saved(unsaved)
  assert.deepEqual(Object.fromEntries(counts.unsaved()), { pods: 6, 'pods/a': 4 })
})
