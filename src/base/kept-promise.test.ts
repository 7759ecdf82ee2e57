// What failed is tried again, and what did not is kept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOrTry, keepUntilFailed, keptUntilFailed } from './kept-promise.js'

/** Fails as often as is said, and then counts. */
function failing(times: number): { readonly make: () => Promise<number>; readonly calls: () => number } {
  let calls = 0
  return {
    make: async () => {
      calls++
      if (calls <= times) throw new Error(`failure ${calls}`)
      return calls
    },
    calls: () => calls,
  }
}

test('one that is asked for twice is made once, and one that failed is made again', async () => {
  const { make, calls } = failing(1)
  const ask = keptUntilFailed(make)
  const first = [ask(), ask()]
  for (const each of first) await assert.rejects(each, /failure 1/)
  assert.equal(calls(), 1)
  assert.equal(await ask(), 2)
  assert.equal(await ask(), 2)
})

test('whoever asks as soon as it has heard of a failure tries again', async () => {
  const { make } = failing(1)
  const ask = keptUntilFailed(make)
  assert.equal(await ask().catch(() => ask()), 2)
})

test('so it is under the keys of a map, and what took the place of a failure stays', async () => {
  const { make } = failing(1)
  const map = new Map<string, Promise<number>>()
  const failed = getOrTry(map, 'a', make)
  keepUntilFailed(map, 'a', Promise.resolve(7))
  await assert.rejects(failed)
  assert.equal(await getOrTry(map, 'a', make), 7)
  assert.equal(await getOrTry(map, 'b', make), 2)
})
