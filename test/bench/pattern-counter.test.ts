// Tests of the pattern counter of the benchmark: patterns that span chunks are counted once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PatternCounter } from '../../bench/pattern-counter.js'

function countIn(chunks: readonly string[], pattern: string): number {
  const counter = new PatternCounter(Buffer.from(pattern))
  return chunks.reduce((sum, chunk) => sum + counter.count(Buffer.from(chunk)), 0)
}

test('patterns are counted once, wherever chunks end', () => {
  const text = '{"a":1}\n{"b":2}\n}\n\n{"c":3}}\n'
  for (const pattern of ['}\n', '{"', '\n', '"b":2}\n}']) {
    const whole = text.split(pattern).length - 1
    for (let size = 1; size <= text.length; size++) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
      assert.equal(countIn(chunks, pattern), whole, `${JSON.stringify(pattern)} in chunks of ${size}`)
    }
  }
})
