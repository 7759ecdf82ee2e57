// Order of pruned paths in messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonField, list, type SchemaNode, type StructNode, string, struct } from '../node.js'
import { type PathElement, printPath } from '../path.js'
import { inMemberOrder, inPruningOrder, inTextOrder } from './pruning.js'

const paths: readonly (readonly PathElement[])[] = [
  ['zed'],
  ['metadata', 'zz'],
  ['spec', 'list', 10, 'b'],
  ['spec', 'list', 9, 'b'],
  ['spec', 'inner', 'metadata', 'a'],
  ['spec', 'inner', 'x'],
  ['spec', 'inner-x'],
  ['apple'],
  ['metadata', 'bb'],
]

test('inMemberOrder sorts by member names and list positions', () => {
  assert.deepEqual(inMemberOrder(paths).map(printPath), [
    'apple',
    'metadata.bb',
    'metadata.zz',
    'spec.inner.metadata.a',
    'spec.inner.x',
    'spec.inner-x',
    'spec.list[9].b',
    'spec.list[10].b',
    'zed',
  ])
})

test('inTextOrder sorts by printed path', () => {
  const spec = inTextOrder(paths).map(printPath).slice(3, -1)
  assert.deepEqual(spec, ['spec.inner-x', 'spec.inner.metadata.a', 'spec.inner.x', 'spec.list[10].b', 'spec.list[9].b'])
})

test('inPruningOrder puts metadata first and metadata of embedded objects last', () => {
  const metadata = struct('ObjectMeta', { name: jsonField(string) })
  const inner: SchemaNode = struct('inner', { metadata: jsonField({ ...metadata, loose: true }) })
  const root: StructNode = struct('Kind', {
    metadata: jsonField(metadata),
    spec: jsonField(struct('spec', { inner: jsonField(inner), list: jsonField(list(struct('item', { a: jsonField(string) }))) })),
  })
  assert.deepEqual(inPruningOrder(root, metadata, paths).map(printPath), [
    'metadata.bb',
    'metadata.zz',
    'apple',
    'spec.inner-x',
    'spec.inner.x',
    'spec.list[10].b',
    'spec.list[9].b',
    'zed',
    'spec.inner.metadata.a',
  ])
})
