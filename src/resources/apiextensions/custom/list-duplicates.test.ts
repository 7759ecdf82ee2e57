// Lists whose items must differ: what is found in them, and where the look ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../json-schema.js'
import { validateLists } from './list-duplicates.js'

const keyed: JsonSchema = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
const found = (value: unknown, schema: JsonSchema): readonly string[] => lines(validateLists(value, schema, 'l'))

test('items with the same key are told', () =>
  assert.deepEqual(found([{ k: 'a' }, { k: 'b' }, { k: 'a', v: 1 }], keyed), ['l[2]: Duplicate value: {"k":"a"}']))

test('the first item without keys ends the look', () =>
  assert.deepEqual(found([{ k: 'a' }, 1, 'x', { k: 'a' }], keyed), [
    'l[1]: Invalid value: 1: must be an object for an array of list-type map',
  ]))

test('a value twice in a set is told', () =>
  assert.deepEqual(found(['a', 'b', 'a'], { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }), [
    'l[2]: Duplicate value: "a"',
  ]))
