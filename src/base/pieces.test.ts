// Long work leaves room for others, short work does not wait, and an abort ends it between two pieces.

import assert from 'node:assert/strict'
import { stat } from 'node:fs'
import { test } from 'node:test'
import { inPieces, nowOrInPieces, Pieces, SharedPieces } from './pieces.js'
import { timedTest } from './timed-test.fixture.js'
import { whileCounting } from './turn-count.fixture.js'

const spin = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
}

function* steps(count: number, ms: number, done: () => void = () => undefined): Generator<void, string, void> {
  try {
    for (let i = 0; i < count; i++) {
      spin(ms)
      yield
    }
    return 'done'
  } finally {
    done()
  }
}

test('others get their turn while long work is done', async () => {
  await whileCounting(async (count) => {
    assert.equal(await inPieces(steps(40, 1)), 'done')
    assert.ok(count.turn >= 4, `${count.turn} turns in 40 ms of work`)
  })
})

test('what begins while connections are read goes on after they were looked at again', async () => {
  const seen: string[] = []
  function* longSteps(): Generator<void, void, void> {
    for (let i = 0; i < 2; i++) {
      spin(6)
      seen.push('step')
      yield
    }
  }
  await new Promise<void>((resolve) => {
    // Its callback runs where those of connections do.
    stat('.', () => {
      setImmediate(() => seen.push('behind reading'))
      setTimeout(() => seen.push('another turn'))
      void inPieces(longSteps()).then(resolve)
    })
  })
  assert.deepEqual(seen, ['step', 'behind reading', 'another turn', 'step'])
})

timedTest('short work is done in one turn', async () => {
  let turns = 0
  setImmediate(() => turns++)
  assert.equal(await inPieces(steps(100, 0)), 'done')
  assert.equal(turns, 0)
})

test('an abort ends the work, which can clean up', async () => {
  const abort = new AbortController()
  let cleaned = 0
  const work = inPieces(
    steps(1000, 1, () => cleaned++),
    abort.signal,
  )
  setTimeout(() => abort.abort(new Error('enough')), 10)
  await assert.rejects(work, { message: 'enough' })
  assert.equal(cleaned, 1)
})

test('a failure is thrown as it is', async () => {
  // biome-ignore lint/correctness/useYield: it fails before the first step
  function* failing(): Generator<void, void, void> {
    throw new Error('broken')
  }
  await assert.rejects(inPieces(failing()), { message: 'broken' })
})

timedTest('a piece is over after five milliseconds, and the next one begins anew', async () => {
  const pieces = new Pieces()
  assert.equal(pieces.isOver, false)
  spin(6)
  assert.equal(pieces.isOver, true)
  await pieces.next()
  assert.equal(pieces.isOver, false)
})

test('works that wait for other things share a piece: together they hold a turn no longer than one alone', async () => {
  const clock = { ms: 0 }
  const shared = new SharedPieces(() => clock.ms)
  let inTurn = 0
  let most = 0
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    most = Math.max(most, inTurn)
    inTurn = 0
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const work = async (): Promise<void> => {
    for (let step = 0; step < 20; step++) {
      if (shared.isOver) await shared.next()
      clock.ms += 1
      inTurn += 1
      await undefined
    }
  }
  await Promise.all(Array.from({ length: 10 }, work))
  isDone = true
  assert.ok(most <= 6, `${most} ms in one turn`)
  assert.ok(turns >= 30 && turns <= 250, `${turns} turns for 200 ms`)
})

test('a step that is longer than a piece is alone in its turn', async () => {
  const clock = { ms: 0 }
  const shared = new SharedPieces(() => clock.ms)
  let inTurn = 0
  const perTurn: number[] = []
  let isDone = false
  const count = (): void => {
    if (inTurn > 0) perTurn.push(inTurn)
    inTurn = 0
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  function* longSteps(): Generator<void, void, void> {
    if (shared.isOver) yield
    for (let i = 0; i < 5; i++) {
      clock.ms += 4
      inTurn += 1
      yield
    }
  }
  await nowOrInPieces(longSteps(), shared)
  isDone = true
  count()
  assert.deepEqual(perTurn, [1, 1, 1, 1, 1])
})
