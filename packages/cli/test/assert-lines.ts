// Asserts that a text has lines that match, in order.

import assert from 'node:assert/strict'

export function assertLines(text: string, ...wanted: readonly RegExp[]): void {
  const lines = text.split('\n')
  let at = 0
  for (const pattern of wanted) {
    const found = lines.findIndex((line, i) => i >= at && pattern.test(line))
    assert.ok(found >= 0, `${pattern} is missing or out of order:\n${text}`)
    at = found + 1
  }
}
