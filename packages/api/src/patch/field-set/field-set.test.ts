// Tests of unions of field sets, which share unchanged nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldSet, pathSet, union } from './field-set.js'

const stored = (): FieldSet => JSON.parse('{"f:data":{".":{},"f:a":{},"f:b":{"f:c":{}}}}')

test('union with a subset returns the same set', () => {
  const set = stored()
  for (const path of [['f:data'], ['f:data', 'f:a'], ['f:data', 'f:b', 'f:c']]) assert.equal(union(set, pathSet(path)), set, path.join(' '))
})

test('union with new paths does not change the operands', () => {
  const set = stored()
  assert.deepEqual(union(set, pathSet(['f:data', 'f:b'])), { 'f:data': { '.': {}, 'f:a': {}, 'f:b': { '.': {}, 'f:c': {} } } })
  assert.deepEqual(union(set, pathSet(['f:data', 'f:a', 'f:d'])), {
    'f:data': { '.': {}, 'f:a': { '.': {}, 'f:d': {} }, 'f:b': { 'f:c': {} } },
  })
  assert.deepEqual(set, stored())
})
