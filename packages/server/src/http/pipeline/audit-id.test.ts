// Audit ids: random and unique.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAuditId } from './request-listener.js'

test('audit ids are random UUIDs of version 4', () => {
  const all = Array.from({ length: 5000 }, newAuditId)
  assert.equal(new Set(all).size, all.length)
  for (const id of all) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  // Every random digit takes every value.
  for (let offset = 0; offset < 36; offset++) {
    const distinct = new Set(all.map((id) => id[offset])).size
    const expected = [8, 13, 18, 23, 14].includes(offset) ? 1 : offset === 19 ? 4 : 16
    assert.equal(distinct, expected, `digit ${offset}`)
  }
})
