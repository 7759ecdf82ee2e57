// What stays in a map with a bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentMap } from './recent-map.js'

test('it never holds more than its bound, and keeps what is asked for', () => {
  const map = new RecentMap<number, string>(100)
  map.set(-1, 'wanted')
  for (let i = 0; i < 10_000; i++) {
    map.set(i, String(i))
    assert.ok(map.size <= 100)
    assert.equal(map.get(-1), 'wanted')
  }
  assert.equal(map.get(0), undefined)
  assert.equal(map.get(9999), '9999')
})

test('what was set again or deleted is not found as it was', () => {
  const map = new RecentMap<string, number>(4)
  map.set('a', 1)
  map.set('b', 1) // both are in the older half from here on
  map.set('a', 2)
  assert.equal(map.get('a'), 2)
  map.delete('b')
  assert.equal(map.get('b'), undefined)
  map.clear()
  assert.equal(map.size, 0)
})
