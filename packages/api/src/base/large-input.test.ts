// Tests of isLarge: inputs by size and by number of members.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLarge } from './large-input.js'

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

test('ordinary objects are not large', () => {
  const keys = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`key-${i}`, 'x'.repeat(30)]))
  assert.equal(isLarge(json({ data: keys })), false)
  const addresses = Array.from({ length: 1000 }, (_, i) => ({
    ip: `10.0.${i >> 8}.${i & 255}`,
    targetRef: { kind: 'Pod', name: `p-${i}`, uid: 'u' },
  }))
  assert.equal(isLarge(json({ subsets: [{ addresses }] })), false)
  assert.equal(isLarge(json({ data: { long: 'x'.repeat(500_000) } })), false)
})

test('long bodies and bodies with many members are large', () => {
  assert.equal(isLarge(json({ data: { long: 'x'.repeat(600_000) } })), true)
  assert.equal(isLarge(json({ containers: Array.from({ length: 6000 }, () => ({})) })), true)
  assert.equal(isLarge(Buffer.from('- a\n'.repeat(20_000))), true)
})

test('maxBytes overrides the limit for formats other than JSON', () => {
  const bytes = Buffer.alloc(100_000, 'x')
  assert.equal(isLarge(bytes), false)
  assert.equal(isLarge(bytes, 64 << 10), true)
})
