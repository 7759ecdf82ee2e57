// Tests of promise caches: promises are shared until they reject, then created again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cacheUntilRejected, getOrStart, setUntilRejected } from './promise-cache.js'

/** Rejects the first `times` calls; later calls resolve to the number of calls. */
function failing(times: number): { readonly start: () => Promise<number>; readonly calls: () => number } {
  let calls = 0
  return {
    start: async () => {
      calls++
      if (calls <= times) throw new Error(`failure ${calls}`)
      return calls
    },
    calls: () => calls,
  }
}

test('concurrent callers share one promise, and a rejected one is created again', async () => {
  const { start, calls } = failing(1)
  const get = cacheUntilRejected(start)
  const first = [get(), get()]
  for (const promise of first) await assert.rejects(promise, /failure 1/)
  assert.equal(calls(), 1)
  assert.equal(await get(), 2)
  assert.equal(await get(), 2)
})

test('a call in the rejection handler creates the promise again', async () => {
  const { start } = failing(1)
  const get = cacheUntilRejected(start)
  assert.equal(await get().catch(() => get()), 2)
})

test('getOrStart retries per key, and a rejection does not remove a later promise', async () => {
  const { start } = failing(1)
  const map = new Map<string, Promise<number>>()
  const failed = getOrStart(map, 'a', start)
  setUntilRejected(map, 'a', Promise.resolve(7))
  await assert.rejects(failed)
  assert.equal(await getOrStart(map, 'a', start), 7)
  assert.equal(await getOrStart(map, 'b', start), 2)
})
