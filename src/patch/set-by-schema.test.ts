// That a set of fields follows each topology that it meets, also one that it was compared with before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../schema/node.js'
import { structTopology } from '../schema/topology.js'
import { reconciled } from './set-by-schema.js'
import { setOf } from './set-of.js'

const pair = s.struct('Pair', { a: s.jsonField(s.string), b: s.jsonField(s.string) })
const topologyOf = (mapType: 'atomic' | 'granular') => structTopology(s.struct('Thing', { pair: s.jsonField(pair, { mapType }) }))

test('a set of parts becomes one of the whole where the parts became one, and is left alone before and after', () => {
  const [parts, whole] = [topologyOf('granular'), topologyOf('atomic')]
  const set = setOf(parts, { pair: { a: '1' } })
  assert.ok(set)
  assert.equal(reconciled(set, parts), set)
  const asOne = reconciled(set, whole)
  assert.deepEqual(asOne, setOf(whole, { pair: { a: '1' } }))
  assert.equal(reconciled(asOne, whole), asOne)
  assert.equal(reconciled(asOne, parts), asOne, 'the reverse change infers no owners')
  assert.equal(reconciled(set, parts), set)
  assert.deepEqual(reconciled(set, whole), asOne)
})
