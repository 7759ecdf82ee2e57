// Differences between two versions of an object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldChanges } from './field-changes.js'

const linesOf = (before: unknown, after: unknown): readonly string[] =>
  fieldChanges(before, after).map((change) => `${change.path}: ${JSON.stringify(change.before)} -> ${JSON.stringify(change.after)}`)

test('changes name the smallest fields that differ', () => {
  const cases: readonly (readonly [unknown, unknown, readonly string[]])[] = [
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, ['b: 2 -> 3']],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['a.b.c: 1 -> 2']],
    // An added map shows each field, as if it had been empty.
    [{}, { labels: { app: 'web', 'x.io/y': 'z' } }, ['labels.app: undefined -> "web"', `labels['x.io/y']: undefined -> "z"`]],
    [{ labels: { app: 'web' } }, {}, ['labels.app: "web" -> undefined']],
    [undefined, { kind: 'Box', spec: { size: 1 } }, ['kind: undefined -> "Box"', 'spec.size: undefined -> 1']],
    [{}, { spec: {} }, ['spec: undefined -> {}']],
    [{ a: [] }, {}, ['a: [] -> undefined']],
    [{ a: {} }, { a: {} }, []],
    [{ a: [] }, { a: [] }, []],
    [{ a: 1 }, { a: { b: 1 } }, ['a: 1 -> {"b":1}']],
    [{ a: null }, { a: 0 }, ['a: null -> 0']],
    [{ a: ['x', 'y'] }, { a: ['x', 'z', 'y'] }, ['a[1]: "y" -> "z"', 'a[2]: undefined -> "y"']],
    [
      { a: [{ name: 'x', v: 1 }] },
      { a: [{ name: 'w' }, { name: 'x', v: 2 }] },
      ['a[name=x].v: 1 -> 2', 'a[name=w].name: undefined -> "w"'],
    ],
    [{ a: [{ type: 'Ready', s: 'False' }] }, { a: [{ type: 'Ready', s: 'True' }] }, ['a[type=Ready].s: "False" -> "True"']],
    // Names that are not unique do not tell items apart.
    [{ a: [{ name: 'x' }, { name: 'x' }] }, { a: [{ name: 'x' }, { name: 'y' }] }, ['a[1].name: "x" -> "y"']],
    [{ __proto__: null, a: 1 }, { a: 1 }, []],
  ]
  for (const [before, after, lines] of cases) assert.deepEqual(linesOf(before, after), lines)
})

test('managedFields and resourceVersion of the object are no changes', () => {
  const before = { metadata: { resourceVersion: '1', managedFields: [{ manager: 'a' }] }, spec: { metadata: { resourceVersion: '1' } } }
  const after = { metadata: { resourceVersion: '2', managedFields: [] }, spec: { metadata: { resourceVersion: '2' } } }
  assert.deepEqual(linesOf(before, after), ['spec.metadata.resourceVersion: "1" -> "2"'])
})
