// Tests of Bindings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../../../api/rule-context.fixture.js'
import { rowTitle } from '../../expect-errors.fixture.js'
import { validateBinding } from './binding.js'

const rows: readonly (readonly [target: { readonly kind?: string; readonly name?: string }, ...expected: readonly string[]])[] = [
  [{ kind: 'Node', name: 'n' }],
  [{ name: 'n' }],
  [{ kind: 'Pod', name: 'n' }, 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
  [{}, 'target.name: Required value'],
]

for (const [target, ...expected] of rows)
  test(`a binding: ${rowTitle(target, expected)}`, () => assert.deepEqual(lines(validateBinding({ target })), expected))
