// Tests of encodeText: the bytes equal the output of TextEncoder and are not overwritten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeText } from './encode-text.js'

test('later calls do not overwrite earlier results, for any length and any characters', () => {
  const encoder = new TextEncoder()
  const units = ['a', 'é', '€', '😀', '\ud800', '\0']
  const texts = Array.from({ length: 3000 }, (_, i) => (units[i % units.length] as string).repeat(i % 1400))
  texts.push('x'.repeat(4096), 'x'.repeat(4097), '€'.repeat(50_000))
  const encoded = texts.map(encodeText)
  for (const [i, text] of texts.entries()) assert.deepEqual(encoded[i], encoder.encode(text), `text ${i}`)
})

test('short texts share an ArrayBuffer, long texts get their own', () => {
  const buffers = new Set(Array.from({ length: 100 }, (_, i) => encodeText(`text ${i}`).buffer))
  assert.ok(buffers.size <= 2)
  assert.equal(encodeText('x'.repeat(5000)).buffer.byteLength, 5000)
})
