// The bench counts events by their marks: none may be missed where a chunk ends, or the bench waits for it for ever.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarkCounter } from '../../bench/mark-counter.js'

function countIn(chunks: readonly string[], mark: string): number {
  const counter = new MarkCounter(Buffer.from(mark))
  return chunks.reduce((sum, chunk) => sum + counter.count(Buffer.from(chunk)), 0)
}

test('marks are counted once, wherever chunks end', () => {
  const text = '{"a":1}\n{"b":2}\n}\n\n{"c":3}}\n'
  for (const mark of ['}\n', '{"', '\n', '"b":2}\n}']) {
    const whole = text.split(mark).length - 1
    for (let size = 1; size <= text.length; size++) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
      assert.equal(countIn(chunks, mark), whole, `${JSON.stringify(mark)} in chunks of ${size}`)
    }
  }
})
