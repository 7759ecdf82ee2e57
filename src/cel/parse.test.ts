// Expressions that nest deeply are refused as what they are, also before the parser's code is compiled, when each level takes more of the stack.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelSyntaxError, parseExpression } from './parse.js'

const pairs = [
  ['(', ')'],
  ['[', ']'],
  ['{1:', '}'],
] as const

test('what nests deeply is refused, and nothing else becomes of it', () => {
  for (const levels of [150, 200, 250, 3000])
    for (const [open, close] of pairs) {
      const parse = (): unknown => parseExpression(open.repeat(levels) + 1 + close.repeat(levels))
      if (levels > 250)
        assert.throws(parse, (thrown) => thrown instanceof CelSyntaxError && /recursion limit exceeded: 250/.test(thrown.message))
      else
        try {
          parse()
        } catch (thrown) {
          assert.ok(thrown instanceof CelSyntaxError, `${levels} of ${open}: ${thrown}`)
        }
    }
  for (const [open, close] of pairs) parseExpression(open.repeat(50) + 1 + close.repeat(50))
})
