// Streams of batched values: order, concurrent reads, errors, early end.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BatchStream } from './value-stream.js'

async function* batches(...results: readonly (readonly number[] | Error)[]): AsyncGenerator<readonly number[], void, undefined> {
  for (const result of results) {
    await Promise.resolve()
    if (result instanceof Error) throw result
    yield result
  }
}

test('yields values in order and skips empty batches', async () => {
  const seen: number[] = []
  for await (const value of new BatchStream(batches([1, 2], [], [3]))) seen.push(value)
  assert.deepEqual(seen, [1, 2, 3])
})

test('concurrent next() calls resolve in order', async () => {
  const stream = new BatchStream(batches([1], [2, 3], [4]))
  const results = await Promise.all(Array.from({ length: 6 }, () => stream.next()))
  assert.deepEqual(
    results.map(({ value, done }) => (done === true ? 'end' : value)),
    [1, 2, 3, 4, 'end', 'end'],
  )
})

test('an error follows the values before it; break ends the source', async () => {
  const seen: number[] = []
  await assert.rejects(async () => {
    for await (const value of new BatchStream(batches([1, 2], new Error('broken')))) seen.push(value)
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
  for await (const _ of new BatchStream(source())) break
  assert.equal(hasEnded, true)
})

describe('each', () => {
  test('awaits the callback for each value in order', async () => {
    const seen: string[] = []
    await new BatchStream(batches([1, 2], [], [3])).each(async (value) => {
      seen.push(`begin ${value}`)
      await Promise.resolve()
      seen.push(`end ${value}`)
    })
    assert.deepEqual(seen, ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })

  const endings: { readonly [title: string]: (value: number) => unknown } = {
    'false ends the stream': (value) => value < 2,
    'a promise of false ends the stream': async (value) => value < 2,
    'an error ends the stream and is thrown': (value) => {
      if (value === 2) throw new Error('enough')
    },
    'a rejected promise ends the stream and is thrown': async (value) => {
      if (value === 2) throw new Error('enough')
    },
  }
  for (const [title, callback] of Object.entries(endings)) {
    test(`${title}`, async () => {
      const seen: number[] = []
      let endCount = 0
      async function* source(): AsyncGenerator<readonly number[], void, undefined> {
        try {
          yield [1, 2, 3]
          yield [4]
        } finally {
          endCount++
        }
      }
      const stream = new BatchStream(source())
      const done = stream.each((value) => {
        seen.push(value)
        return callback(value)
      })
      await (title.endsWith('thrown') ? assert.rejects(done, /^Error: enough$/) : done)
      assert.deepEqual([seen, endCount, await stream.next()], [[1, 2], 1, { value: undefined, done: true }])
    })
  }

  test('throws an error of the source', async () => {
    const seen: number[] = []
    await assert.rejects(
      new BatchStream(batches([1], new Error('broken'))).each((value) => void seen.push(value)),
      /broken/,
    )
    assert.deepEqual(seen, [1])
  })

  test('continues after a concurrent next()', async () => {
    const stream = new BatchStream(batches([1, 2], [3]))
    const first = stream.next()
    const seen: number[] = []
    await stream.each((value) => void seen.push(value))
    assert.deepEqual([(await first).value, seen], [1, [2, 3]])
  })
})
