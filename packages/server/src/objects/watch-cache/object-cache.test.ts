// The byte limit of the object cache, conversions included.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoredObject } from '../entry/stored-object.js'
import { ObjectCache } from './object-cache.js'

const bytes = 1000
const cost = 512 + 6 * bytes
const objectWithKey = (key: string): StoredObject => new StoredObject({ key, revision: 1, value: Buffer.alloc(bytes) })

test('conversions count, before and after the object is cached', async () => {
  const cache = new ObjectCache(4 * cost)
  const convert = async () => []
  const [first, second, third] = [objectWithKey('a'), objectWithKey('b'), objectWithKey('c')]
  second.cacheConversion(convert, 'v1', {})
  for (const stored of [first, second, third]) cache.add(stored)
  assert.ok(cache.get('a'))
  third.cacheConversion(convert, 'v1', {})
  assert.equal(cache.get('a'), undefined)
  assert.ok(cache.get('b'))
  third.cacheConversion(convert, 'v1', {})
  assert.ok(cache.get('b'), 'one conversion per version')
  third.cacheConversion(convert, 'v2', {})
  assert.equal(cache.get('b'), undefined)
  for (let version = 3; version < 6; version += 1) third.cacheConversion(convert, `v${version}`, {})
  assert.equal(cache.get('c'), undefined, 'an object larger than the cache is evicted')
  // Evicted objects do not count.
  third.cacheConversion(convert, 'v9', {})
  for (const key of ['d', 'e', 'f', 'g']) cache.add(objectWithKey(key))
  assert.ok(cache.get('d'))
})

test('an object that has grown beyond the limit is evicted with its former state', () => {
  const cache = new ObjectCache(2 * cost)
  cache.add(objectWithKey('a'))
  cache.update({ key: 'a', revision: 2, value: Buffer.alloc(10 * bytes), previous: undefined })
  assert.equal(cache.get('a'), undefined)
})
