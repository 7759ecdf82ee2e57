// What a binding of a pod must name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../../api/rule-context.fixture.js'
import { validateBinding } from './binding.js'

const rows: readonly {
  readonly title: string
  readonly target: { readonly kind?: string; readonly name?: string }
  readonly found: readonly string[]
}[] = [
  { title: 'a node', target: { kind: 'Node', name: 'n' }, found: [] },
  { title: 'a name alone', target: { name: 'n' }, found: [] },
  {
    title: 'a pod',
    target: { kind: 'Pod', name: 'n' },
    found: ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
  },
  { title: 'nothing', target: {}, found: ['target.name: Required value'] },
]

for (const { title, target, found } of rows)
  test(`a binding to ${title}`, () => assert.deepEqual(lines(validateBinding({ target })), found))
