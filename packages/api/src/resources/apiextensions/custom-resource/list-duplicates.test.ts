// Tests of x-kubernetes-list-type set and map: duplicates are reported.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { validateLists } from './custom-kind.js'

const keyed: JsonSchema = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
const errorsOf = (value: unknown, schema: JsonSchema): readonly string[] => lines(validateLists(value, schema, 'l'))

test('duplicate map keys are reported', () =>
  assert.deepEqual(errorsOf([{ k: 'a' }, { k: 'b' }, { k: 'a', v: 1 }], keyed), ['l[2]: Duplicate value: {"k":"a"}']))

test('only the first item that is not an object is reported', () =>
  assert.deepEqual(errorsOf([{ k: 'a' }, 1, 'x', { k: 'a' }], keyed), [
    'l[1]: Invalid value: 1: must be an object for an array of list-type map',
  ]))

test('members are compared in any order; null and an item without keys are the same', () => {
  const set: JsonSchema = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }
  assert.deepEqual(
    errorsOf(
      [
        { a: 1, b: [{ c: 1, d: 2 }] },
        { b: [{ d: 2, c: 1 }], a: 1 },
      ],
      set,
    ).length,
    1,
  )
  assert.deepEqual(errorsOf([null, { v: 1 }, { k: null }], keyed), ['l[1]: Duplicate value: {}'])
})

test('each duplicate is reported once', () => {
  assert.deepEqual(errorsOf([{ k: 'a' }, { k: 'a' }, { k: 'a' }], keyed), ['l[1]: Duplicate value: {"k":"a"}'])
  const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
  assert.deepEqual(errorsOf(['a', 'a', 'b', 'a', 'b'], set), ['l[1]: Duplicate value: "a"', 'l[4]: Duplicate value: "b"'])
})

test('duplicate set items are reported', () =>
  assert.deepEqual(errorsOf(['a', 'b', 'a'], { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }), [
    'l[2]: Duplicate value: "a"',
  ]))
