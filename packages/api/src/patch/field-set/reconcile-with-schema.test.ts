// Tests of field sets after a schema change that makes a struct atomic.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../../schema/node.js'
import { structTopology } from '../../schema/topology.js'
import { reconcileFieldSet } from './reconcile-with-schema.js'
import { toFieldSet } from './to-field-set.js'

const pair = s.struct('Pair', { a: s.jsonField(s.string), b: s.jsonField(s.string) })
const topologyOf = (mapType: 'atomic' | 'granular') => structTopology(s.struct('Thing', { pair: s.jsonField(pair, { mapType }) }))

test('owners of fields own the struct when it becomes atomic; an unchanged topology returns the same set', () => {
  const [granular, atomic] = [topologyOf('granular'), topologyOf('atomic')]
  const set = toFieldSet(granular, { pair: { a: '1' } })
  assert.ok(set)
  assert.equal(reconcileFieldSet(set, granular), set)
  const reconciled = reconcileFieldSet(set, atomic)
  assert.deepEqual(reconciled, toFieldSet(atomic, { pair: { a: '1' } }))
  assert.equal(reconcileFieldSet(reconciled, atomic), reconciled)
  assert.equal(reconcileFieldSet(reconciled, granular), reconciled, 'the reverse change infers no owners')
  assert.equal(reconcileFieldSet(set, granular), set)
  assert.deepEqual(reconcileFieldSet(set, atomic), reconciled)
})
