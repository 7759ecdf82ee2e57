// Names of requests in the records: random, and each of them once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAuditId } from './audit-ids.js'

test('names of requests are random UUIDs of version 4', () => {
  const all = Array.from({ length: 5000 }, newAuditId)
  assert.equal(new Set(all).size, all.length)
  for (const id of all) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  // Every digit that is free takes every value.
  for (let place = 0; place < 36; place++) {
    const seen = new Set(all.map((id) => id[place])).size
    const wanted = [8, 13, 18, 23, 14].includes(place) ? 1 : place === 19 ? 4 : 16
    assert.equal(seen, wanted, `place ${place}`)
  }
})
