// When the expressions of a policy are compiled: where others wait, or where nobody does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledPolicy } from './compiled-policy.js'

class Left extends Error {}

const leave = (): void => {
  throw new Left()
}

const policyOf = (expression: string): CompiledPolicy =>
  new CompiledPolicy({ metadata: { name: 'p' }, spec: { validations: [{ expression: 'true' }, { expression }] } })

function compileAll(policy: CompiledPolicy, leaving?: () => void): readonly boolean[] {
  const work = policy.validations(leaving)
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value.map(({ program }) => program !== undefined)
}

test('an expression that takes long to compile is left to where nobody waits for it', () => {
  const long = Array.from({ length: 2000 }, () => 'object.a == 1').join(' || ')
  const policy = policyOf(long)
  assert.throws(() => compileAll(policy, leave), Left)
  assert.deepEqual(
    compileAll(policy, () => undefined),
    [true, true],
  )
  // It is compiled now.
  assert.deepEqual(compileAll(policy, leave), [true, true])
  assert.deepEqual(compileAll(policyOf('object.a == 1'), leave), [true, true])
})
