// Tests of comparing lists that contain the same list many times: few bytes, but many nodes.

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { compileExpression } from '../compile.js'
import { policyEnvironment } from '../policy-expression.js'
import { valueOfJson } from '../values/json-values.js'
import { CelError, type Value } from '../values/values.js'

const object = valueOfJson({ m: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i])) })

function evaluate(expression: string): Value {
  const chunks = compileExpression(expression, policyEnvironment(false)).evaluateInChunks({ object }, 1_000_000)
  for (;;) {
    const step = chunks.next()
    if (step.done) return step.value.value
  }
}

/** Each level doubles the number of nodes. */
const nested = (levels: number): string => `[[1]]${'.map(x, [x, x])'.repeat(levels)}`

it('comparing values with too many nodes exceeds the cost limit', () => {
  assert.equal(evaluate(`${nested(8)} == ${nested(8)} && object.m == object.m`), true)
  assert.equal(evaluate(`${nested(15)} == ${nested(15)}`), true)
  const failed = evaluate(`${nested(30)} == ${nested(30)}`)
  assert.match(failed instanceof CelError ? failed.message : '', /cost limit exceeded/)
})
