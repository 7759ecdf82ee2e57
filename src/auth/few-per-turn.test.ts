// Works that become possible at the same moment go on a few in each turn, in their order, and none is forgotten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FewPerTurn } from './few-per-turn.js'

test('a few go on at once, and the others a few in each turn', async () => {
  const few = new FewPerTurn(3)
  const turns: number[][] = [[]]
  let isOver = false
  const look = (): void => {
    if (isOver) return
    turns.push([])
    setImmediate(look)
  }
  setImmediate(look)
  await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const waiting = few.turn()
      assert.equal(waiting === undefined, i < 3)
      if (waiting !== undefined) await waiting
      turns.at(-1)?.push(i)
    }),
  )
  isOver = true
  assert.deepEqual(
    turns.filter(({ length }) => length > 0),
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
  )
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(few.turn(), undefined)
})
