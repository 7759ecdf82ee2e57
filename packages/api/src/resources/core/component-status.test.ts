// Kinds that are not stored: the state of components, and the message that a pod goes to a node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { binding } from './binding.js'
import { componentStatus } from './component-status.js'

const context = usualContext()

const states: readonly (readonly [string | undefined, string])[] = [
  ['True', 'Healthy'],
  ['False', 'Unhealthy'],
  ['Unknown', 'Unknown'],
  [undefined, 'Unknown'],
]
for (const [status, shown] of states) {
  test(`a component whose health is ${status} is shown as ${shown}`, () => {
    const conditions = status === undefined ? [] : [{ type: 'Healthy', status, message: 'm', error: 'e' }]
    const object = frozen({ metadata: { name: 'etcd-0' }, conditions })
    assert.deepEqual(componentStatus.table?.cells(object, context), ['etcd-0', shown, ...(status === undefined ? ['', ''] : ['m', 'e'])])
  })
}

const metadata = { name: 'p', namespace: 'shop' }
const targets: readonly { readonly title: string; readonly target: object; readonly found: readonly string[] }[] = [
  { title: 'a node', target: { kind: 'Node', name: 'n' }, found: [] },
  { title: 'something that is a node if nothing else', target: { name: 'n' }, found: [] },
  { title: 'nothing', target: {}, found: ['target.name: Required value'] },
  {
    title: 'a pod',
    target: { kind: 'Pod', name: 'n' },
    found: ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
  },
]
for (const { title, target, found } of targets) {
  test(`bind to ${title}`, () => expectErrors(validateCreation(binding, frozen({ metadata, target }), context), found))
}
