// Batches one by one: in order, also for those who ask ahead, with errors and ends where they belong.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
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

describe('a function', () => {
  test('is called with each in order, and waited for', async () => {
    const seen: string[] = []
    await new OneByOne(batches([1, 2], [], [3])).each(async (value) => {
      seen.push(`begin ${value}`)
      await Promise.resolve()
      seen.push(`end ${value}`)
    })
    assert.deepEqual(seen, ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })

  const waysOut: { readonly [what: string]: (value: number) => unknown } = {
    'false ends it': (value) => value < 2,
    'a promise of false ends it': async (value) => value < 2,
    'an error ends it, and is thrown': (value) => {
      if (value === 2) throw new Error('enough')
    },
    'a promise that is rejected ends it, and is thrown': async (value) => {
      if (value === 2) throw new Error('enough')
    },
  }
  for (const [what, take] of Object.entries(waysOut)) {
    test(`${what}, and the source with it`, async () => {
      const seen: number[] = []
      let ends = 0
      async function* source(): AsyncGenerator<readonly number[], void, undefined> {
        try {
          yield [1, 2, 3]
          yield [4]
        } finally {
          ends++
        }
      }
      const all = new OneByOne(source())
      const done = all.each((value) => {
        seen.push(value)
        return take(value)
      })
      await (what.endsWith('thrown') ? assert.rejects(done, /^Error: enough$/) : done)
      assert.deepEqual([seen, ends, await all.next()], [[1, 2], 1, { value: undefined, done: true }])
    })
  }

  test('is told of an error of the source', async () => {
    const seen: number[] = []
    await assert.rejects(
      new OneByOne(batches([1], new Error('broken'))).each((value) => void seen.push(value)),
      /broken/,
    )
    assert.deepEqual(seen, [1])
  })

  test('gets what others leave who ask at the same time', async () => {
    const all = new OneByOne(batches([1, 2], [3]))
    const first = all.next()
    const seen: number[] = []
    await all.each((value) => void seen.push(value))
    assert.deepEqual([(await first).value, seen], [1, [2, 3]])
  })
})
