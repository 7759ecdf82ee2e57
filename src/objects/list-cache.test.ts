// What is dropped from the cache of lists leaves nothing behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../storage/storage.js'
import { storedJson } from './fixture.js'
import { ListCache } from './list-cache.js'

test('kinds that come and go, each listed once', () => {
  const cache = new ListCache({ scan: () => undefined } as unknown as Storage, 1 << 20)
  for (let i = 0; i < 20_000; i++) assert.deepEqual([...cache.slices({ start: `kinds${i}/`, end: `kinds${i}0` }, 10, storedJson)], [])
  assert.ok(cache.bytes > 0 && cache.bytes <= 1 << 20)
  assert.ok(cache['collections'].size <= cache.bytes / 256, `${cache['collections'].size} collections`)
  for (let i = 0; i < 3; i++) cache.release()
  assert.deepEqual([cache.bytes, cache['collections'].size], [0, 0])
})
