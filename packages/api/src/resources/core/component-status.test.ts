// Tests of ComponentStatus and of the binding subresource.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { componentStatus } from './component-status.js'
import { binding } from './pod/binding.js'

const context = usualContext()

const states: readonly (readonly [string | undefined, string])[] = [
  ['True', 'Healthy'],
  ['False', 'Unhealthy'],
  ['Unknown', 'Unknown'],
  [undefined, 'Unknown'],
]
for (const [status, shown] of states) {
  test(`a component with Healthy=${status} is shown as ${shown}`, () => {
    const conditions = status === undefined ? [] : [{ type: 'Healthy', status, message: 'm', error: 'e' }]
    const object = frozen({ metadata: { name: 'etcd-0' }, conditions })
    assert.deepEqual(componentStatus.table?.cells(object, context), ['etcd-0', shown, ...(status === undefined ? ['', ''] : ['m', 'e'])])
  })
}

const metadata = { name: 'p', namespace: 'shop' }
const targets: readonly (readonly [target: object, ...expected: readonly string[]])[] = [
  [{ kind: 'Node', name: 'n' }],
  [{ name: 'n' }],
  [{}, 'target.name: Required value'],
  [{ kind: 'Pod', name: 'n' }, 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
]
for (const [target, ...expected] of targets) {
  test(`bind: ${rowTitle(target, expected)}`, () =>
    expectErrors(validateCreation(binding, frozen({ metadata, target }), context), expected))
}
