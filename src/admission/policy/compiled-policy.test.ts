// The expressions of a policy are compiled one by one, at first use.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledPolicy } from './compiled-policy.js'

test('expressions are compiled once, with a yield between two of them', () => {
  const policy = new CompiledPolicy({
    metadata: { name: 'p' },
    spec: { validations: [{ expression: 'true' }, { expression: 'object.a == 1' }] },
  })
  const countYields = (): number => {
    const work = policy.validations()
    for (let yields = 0; ; yields++) {
      const step = work.next()
      if (!step.done) continue
      assert.deepEqual(
        step.value.map(({ program }) => program !== undefined),
        [true, true],
      )
      return yields
    }
  }
  assert.deepEqual([countYields(), countYields()], [2, 0])
})
