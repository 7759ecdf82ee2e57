// Sets of fields: what an operation did not change is shared.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldSet, pathSet, union } from './field-set.js'

const stored = (): FieldSet => JSON.parse('{"f:data":{".":{},"f:a":{},"f:b":{"f:c":{}}}}')

test('a union with what a set holds already is the set itself, also where it was read from the store', () => {
  const set = stored()
  for (const path of [['f:data'], ['f:data', 'f:a'], ['f:data', 'f:b', 'f:c']]) assert.equal(union(set, pathSet(path)), set, path.join(' '))
})

test('a union with more has both', () => {
  const set = stored()
  assert.deepEqual(union(set, pathSet(['f:data', 'f:b'])), { 'f:data': { '.': {}, 'f:a': {}, 'f:b': { '.': {}, 'f:c': {} } } })
  assert.deepEqual(union(set, pathSet(['f:data', 'f:a', 'f:d'])), {
    'f:data': { '.': {}, 'f:a': { '.': {}, 'f:d': {} }, 'f:b': { 'f:c': {} } },
  })
  assert.deepEqual(set, stored())
})
