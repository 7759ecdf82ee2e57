// Batches one by one: in order, also for those who ask ahead, with errors and ends where they belong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OneByOne } from './one-by-one.js'

async function* batches(...all: readonly (readonly number[] | Error)[]): AsyncGenerator<readonly number[], void, undefined> {
  for (const one of all) {
    await Promise.resolve()
    if (one instanceof Error) throw one
    yield one
  }
}

test('in order, without the empty ones', async () => {
  const seen: number[] = []
  for await (const value of new OneByOne(batches([1, 2], [], [3]))) seen.push(value)
  assert.deepEqual(seen, [1, 2, 3])
})

test('to those who ask ahead as well', async () => {
  const all = new OneByOne(batches([1], [2, 3], [4]))
  const answers = await Promise.all(Array.from({ length: 6 }, () => all.next()))
  assert.deepEqual(
    answers.map(({ value, done }) => (done === true ? 'end' : value)),
    [1, 2, 3, 4, 'end', 'end'],
  )
})

test('an error comes after what was before it, and who leaves ends the source', async () => {
  const seen: number[] = []
  await assert.rejects(async () => {
    for await (const value of new OneByOne(batches([1, 2], new Error('broken')))) seen.push(value)
  }, /broken/)
  assert.deepEqual(seen, [1, 2])
  let hasEnded = false
  async function* source(): AsyncGenerator<readonly number[], void, undefined> {
    try {
      yield [1, 2]
    } finally {
      hasEnded = true
    }
  }
  for await (const _ of new OneByOne(source())) break
  assert.equal(hasEnded, true)
})
