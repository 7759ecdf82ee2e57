// The bound on what is kept, with everything that objects hold.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ObjectCache } from './object-cache.js'
import { StoredObject } from './stored-object.js'

const bytes = 1000
const cost = 512 + 6 * bytes
const object = (key: string): StoredObject => new StoredObject({ key, revision: 1, value: Buffer.alloc(bytes) })

test('the oldest go when there is no room', () => {
  const cache = new ObjectCache(3 * cost)
  for (const key of ['a', 'b', 'c', 'd']) cache.keep(object(key))
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.key),
    [undefined, 'b', 'c', 'd'],
  )
})

test('what objects are converted to counts, when it is there before and when it comes later', async () => {
  const cache = new ObjectCache(4 * cost)
  const convert = async () => []
  const [first, second, third] = [object('a'), object('b'), object('c')]
  second.keepAs(convert, 'v1', {})
  for (const kept of [first, second, third]) cache.keep(kept)
  assert.ok(cache.get('a'))
  third.keepAs(convert, 'v1', {})
  assert.equal(cache.get('a'), undefined)
  assert.ok(cache.get('b'))
  third.keepAs(convert, 'v1', {})
  assert.ok(cache.get('b'), 'once for each version')
  third.keepAs(convert, 'v2', {})
  assert.equal(cache.get('b'), undefined)
  for (let version = 3; version < 6; version += 1) third.keepAs(convert, `v${version}`, {})
  assert.equal(cache.get('c'), undefined, 'one that is too large by itself goes as well')
  // What is not kept any more is not counted.
  third.keepAs(convert, 'v9', {})
  for (const key of ['d', 'e', 'f', 'g']) cache.keep(object(key))
  assert.ok(cache.get('d'))
})

test('an object that has become too large does not leave its old self behind', () => {
  const cache = new ObjectCache(2 * cost)
  cache.keep(object('a'))
  cache.update({ key: 'a', revision: 2, value: Buffer.alloc(10 * bytes), previous: undefined })
  assert.equal(cache.get('a'), undefined)
})
