// Tests of field manager names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateFieldManager } from './object-meta.js'

test('each unprintable character is an error with its byte position', () => {
  assert.deepEqual(
    validateFieldManager('a\n\u00e9\t', 'fieldManager').map(({ message }) => message),
    ['U+000A (at position 1)', 'U+0009 (at position 4)'].map((problem) => `Invalid value: "a\\né\\t": invalid character ${problem}`),
  )
})

test('only the first 100 unprintable characters get a message', () => {
  const errors = validateFieldManager('\0'.repeat(20_000), 'fieldManager')
  assert.equal(errors.length, 20_001)
  assert.match(errors[99]?.message ?? '', /invalid character U\+0000 \(at position 98\)$/)
  assert.equal(errors[100], errors[20_000])
})
