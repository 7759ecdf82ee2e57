// The memory for the bytes of one batch after the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createArena } from './lmdb-writes.js'

test('the parts of a batch never overlap, whatever their sizes, and the next batch uses the same memory', () => {
  const arena = createArena()
  const sizes = [10, 200_000, 50_000, 50_000, 300_000, 20, 262_144, 1, ...Array.from({ length: 100 }, (_, i) => 1000 + 997 * i)]
  const fill = (): readonly Buffer[] => {
    arena.reset()
    const parts = sizes.map((size, i) => {
      const slab = arena.take(size)
      assert.equal(slab.end - slab.start, size)
      assert.ok(slab.end <= slab.length)
      return slab.subarray(slab.start, slab.end).fill(i)
    })
    for (const [i, part] of parts.entries()) assert.ok(part.every((byte) => byte === i))
    return parts
  }
  const before = new Set(fill().map(({ buffer }) => buffer))
  const shared = fill().filter(({ buffer }) => before.has(buffer))
  assert.ok(shared.length > 40)
})
