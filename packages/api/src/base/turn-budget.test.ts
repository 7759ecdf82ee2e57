// Tests of TurnBudget: all work of a turn (iteration of the event loop) shares it; waiters resume in order, one per turn.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnBudget } from './turn-budget.js'

/** Budget with a manual clock. */
function budgetWithClock(): { readonly budget: TurnBudget; advance(ms: number): void } {
  let nowMs = 0
  return {
    budget: new TurnBudget(() => nowMs),
    advance: (ms) => {
      nowMs += ms
    },
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('the budget is spent after 5 ms of one turn, and renewed in the next', async () => {
  const { budget, advance } = budgetWithClock()
  assert.equal(budget.isSpent, false)
  advance(4)
  assert.equal(budget.isSpent, false)
  advance(1)
  assert.equal(budget.isSpent, true)
  await nextTurn()
  assert.equal(budget.isSpent, false)
})

test('yieldIfSpent does not yield before the budget is spent', async () => {
  const { budget } = budgetWithClock()
  let turns = 0
  setImmediate(() => turns++)
  for (let i = 0; i < 100; i++) await budget.yieldIfSpent()
  assert.equal(turns, 0)
})

test('waiters resume in order, one per turn', async () => {
  const { budget } = budgetWithClock()
  let turn = 0
  let isCounting = true
  const count = (): void => {
    turn++
    if (isCounting) setImmediate(count)
  }
  setImmediate(count)
  const resumed: { name: string; turn: number }[] = []
  const work = async (name: string): Promise<void> => {
    await budget.nextTurn()
    resumed.push({ name, turn })
  }
  await Promise.all([work('first'), work('second'), work('third')])
  isCounting = false
  assert.deepEqual(
    resumed.map(({ name }) => name),
    ['first', 'second', 'third'],
  )
  assert.equal(new Set(resumed.map((each) => each.turn)).size, 3)
})

test('resumed work starts with a renewed budget', async () => {
  const { budget, advance } = budgetWithClock()
  assert.equal(budget.isSpent, false)
  advance(10)
  assert.equal(budget.isSpent, true)
  await budget.yieldIfSpent()
  assert.equal(budget.isSpent, false)
})

test('of steps that start together, only those within the budget run in one turn', async () => {
  const { budget, advance } = budgetWithClock()
  let turn = 0
  let isCounting = true
  const count = (): void => {
    turn++
    if (isCounting) setImmediate(count)
  }
  setImmediate(count)
  const started: { name: number; turn: number }[] = []
  const step = async (name: number): Promise<void> => {
    await budget.takeSlot()
    started.push({ name, turn })
    await undefined
    advance(3)
  }
  await Promise.all([1, 2, 3, 4, 5, 6].map(step))
  isCounting = false
  assert.deepEqual(
    started.map(({ name }) => name),
    [1, 2, 3, 4, 5, 6],
  )
  for (const { turn } of started) assert.ok(started.filter((each) => each.turn === turn).length <= 2)
})

test('a single step does not wait for a slot', async () => {
  const { budget } = budgetWithClock()
  let turns = 0
  setImmediate(() => turns++)
  await budget.takeSlot()
  assert.equal(turns, 0)
})
