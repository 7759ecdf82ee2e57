// Tests of RecentMap: eviction, replaced and deleted entries.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentMap } from './recent-map.js'

test('size never exceeds the bound, and entries that are read stay', () => {
  const map = new RecentMap<number, string>(100)
  map.set(-1, 'read')
  for (let i = 0; i < 10_000; i++) {
    map.set(i, String(i))
    assert.ok(map.size <= 100)
    assert.equal(map.get(-1), 'read')
  }
  assert.equal(map.get(0), undefined)
  assert.equal(map.get(9999), '9999')
})

test('set replaces and delete removes an entry of the older generation', () => {
  const map = new RecentMap<string, number>(4)
  map.set('a', 1)
  map.set('b', 1) // both entries are in the older generation from here on
  map.set('a', 2)
  assert.equal(map.get('a'), 2)
  map.delete('b')
  assert.equal(map.get('b'), undefined)
  map.clear()
  assert.equal(map.size, 0)
})
