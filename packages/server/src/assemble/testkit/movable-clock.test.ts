// The movable clock: order of timers, timers of timers, skipped runs of periodic timers, cancel, concurrent moves, close.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readDurationMs } from './duration.js'
import { MovableClock } from './movable-clock.js'

/** A clock with a log: `at(label)` logs the label with the time since the start, in whole seconds. */
function loggedClock() {
  const clock = new MovableClock()
  const { timers } = clock.time
  const startMs = timers.now()
  const log: string[] = []
  const at = (label: string) => () => void log.push(`${label} ${Math.round((timers.now() - startMs) / 1000)}`)
  return { clock, timers, log, at }
}

test('timers fire in the order of their due times, and only those that are due', async () => {
  const { clock, timers, log, at } = loggedClock()
  for (const seconds of [30, 10, 70, 20, 50, 40]) timers.after(seconds * 1000, at('a'))
  await clock.advance('45s')
  assert.deepEqual(log.splice(0), ['a 10', 'a 20', 'a 30', 'a 40'])
  await clock.advance(5000)
  assert.deepEqual(log.splice(0), ['a 50'])
})

test('many timers fire in order, also after cancels', async () => {
  const clock = new MovableClock()
  const fired: number[] = []
  const cancels = Array.from({ length: 500 }, (_, index) => {
    const seconds = 1 + ((index * 7919) % 500)
    return { seconds, cancel: clock.time.timers.after(seconds * 1000, () => fired.push(seconds)) }
  })
  for (const { seconds, cancel } of cancels) if (seconds % 3 === 0) cancel()
  await clock.advance('10m')
  const expected = cancels.map(({ seconds }) => seconds).filter((seconds) => seconds % 3 !== 0)
  assert.deepEqual(
    fired,
    expected.toSorted((a, b) => a - b),
  )
})

test('a timer sees the time at which it is due; timers that it sets fire in the same move', async () => {
  const { clock, timers, log, at } = loggedClock()
  const startMs = clock.time.system.now()
  const times: number[] = []
  timers.after(10_000, () => {
    at('first')()
    times.push(clock.time.system.now() - startMs, clock.now().getTime() - startMs)
    timers.after(5000, at('second'))
    timers.after(50_000, at('later'))
  })
  timers.after(20_000, at('third'))
  await clock.advance('1m')
  assert.deepEqual(log, ['first 10', 'second 15', 'third 20', 'later 60'])
  for (const ms of times) assert.ok(Math.abs(ms - 10_000) < 1000, `${ms}`)
})

test('a canceled timer does not fire, also if another timer cancels it', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(1000, at('before'))()
  const cancel = timers.after(20_000, at('during'))
  timers.after(10_000, () => cancel())
  const stop = timers.every(15_000, () => {
    at('periodic')()
    stop()
  })
  await clock.advance('2m')
  // One run: the skipped ones never happen.
  assert.deepEqual(log, ['periodic 105'])
  cancel()
  stop()
})

test('a move waits for the work of a timer before the next timer fires', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(1000, async () => {
    await sleep(20)
    at('work')()
  })
  timers.after(2000, at('next'))
  await clock.advance('1m')
  assert.deepEqual(log, ['work 1', 'next 2'])
})

test('a move waits until the caused work is idle, after each timer and at the end', async () => {
  const { clock, timers, log, at } = loggedClock()
  let busy = 0
  clock.waitFor({
    isIdle: () => busy === 0,
    finish: async () => at('finish')(),
  })
  const work = (label: string) => () => {
    busy += 1
    setTimeout(() => {
      at(label)()
      busy -= 1
    }, 5)
  }
  timers.after(1000, work('a'))
  timers.after(2000, work('b'))
  await clock.advance('10s')
  assert.deepEqual(log, ['a 1', 'b 2', 'finish 10'])
})

test('a periodic timer runs at its last two due times before another timer, and before the end', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.every(10_000, at('renew'))
  timers.after(95_000, at('check'))
  timers.after(100_000, at('check'))
  await clock.advance('1h')
  assert.deepEqual(log, ['renew 80', 'renew 90', 'check 95', 'renew 100', 'check 100', 'renew 3590', 'renew 3600'])
})

test('a move over a year with a timer per second ends', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.every(1000, at('tick'))
  await clock.advance('365d')
  assert.equal(log.length, 2)
})

test('timers also fire in real time, before and after a move', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(5, at('soon'))
  const stop = timers.every(5, at('often'))
  for (let waits = 0; waits < 12_000 && log.length < 4; waits++) await sleep(5)
  stop()
  assert.deepEqual(log.slice(0, 2).toSorted(), ['often 0', 'soon 0'])
  log.splice(0)
  timers.after(3_600_005, at('after the move'))
  await clock.advance('1h')
  for (let waits = 0; waits < 12_000 && log.length < 1; waits++) await sleep(5)
  assert.deepEqual(log, ['after the move 3600'])
})

test('a clock without timers sets no real timer, which would keep its server in memory', (t) => {
  const { timers } = new MovableClock().time
  const set = t.mock.method(globalThis, 'setTimeout')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const cancels = [timers.after(60_000, () => undefined), timers.every(300_000, () => undefined)]
  for (const cancel of cancels) cancel()
  const last = set.mock.calls.at(-1)?.result
  assert.ok(last !== undefined && cleared.mock.calls.some(({ arguments: [timer] }) => timer === last))
})

test('the clocks move together, stand still while a move lasts, and continue from there', async () => {
  const clock = new MovableClock(60_000)
  const { system, steady, timers } = clock.time
  assert.ok(Math.abs(system.now() - Date.now() - 60_000) < 1000 && Math.abs(clock.offsetMs - 60_000) < 1000)
  const before = [system.now(), steady.now(), timers.now()] as const
  const during: number[] = []
  timers.after(10_000, async () => {
    during.push(system.now())
    await sleep(20)
    during.push(system.now())
  })
  await clock.advance('1h')
  assert.equal(during[0], during[1])
  const after = [system.now(), steady.now(), timers.now()] as const
  for (const [index, timeMs] of after.entries()) {
    const movedMs = timeMs - (before[index] ?? 0)
    assert.ok(movedMs >= 3_600_000 && movedMs < 3_660_000, `${movedMs}`)
  }
  const continued = new MovableClock(clock.offsetMs)
  assert.ok(Math.abs(continued.now().getTime() - clock.now().getTime()) < 1000)
})

test('set moves to a time; the past is refused with the reason', async () => {
  const { clock, timers, log, at } = loggedClock()
  const year = new Date().getUTCFullYear() + 2
  timers.after(3_600_000, at('hour'))
  await clock.set(`${year}-01-01T00:00:00Z`)
  assert.equal(log.length, 1)
  assert.equal(clock.now().toISOString().slice(0, 16), `${year}-01-01T00:00`)
  await clock.set(new Date(`${year}-01-02T00:00:00Z`))
  await clock.set(Date.parse(`${year}-01-03T00:00:00Z`))
  assert.equal(clock.now().toISOString().slice(0, 16), `${year}-01-03T00:00`)
  await assert.rejects(clock.set(`${year - 1}-12-31T00:00:00Z`), /time moves only forward, and the server is at \d{4}-01-03T00:00/)
  await assert.rejects(clock.set('tomorrow'), /"tomorrow" is not a time such as/)
})

test('a move over more than five years is refused', async () => {
  const clock = new MovableClock()
  await assert.rejects(clock.advance('999999d'), /at most 5 years/)
  await assert.rejects(clock.set('9999-12-31T23:59:59Z'), /at most 5 years/)
})

test('durations', async () => {
  assert.deepEqual([0, 1500, '90s', '1h30m', '500ms', '30d', '0'].map(readDurationMs), [0, 1500, 90_000, 5_400_000, 500, 2_592_000_000, 0])
  for (const [wrong, message] of [
    ['soon', /"soon" is not a duration/],
    ['1x', /is not a duration/],
    [Number.NaN, /is not a duration/],
    [Number.POSITIVE_INFINITY, /is not a duration/],
    [-1, /-1 is a negative duration/],
    ['-1h', /"-1h" is a negative duration/],
  ] as const)
    await assert.rejects(new MovableClock().advance(wrong), message)
})

test('moves that are requested at the same time happen one after the other', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(90_000, at('timer'))
  const done = (label: string, move: Promise<void>) => move.then(at(label))
  await Promise.all([done('first', clock.advance('1m')), done('second', clock.advance('1m')), assert.rejects(clock.set(0), /forward/)])
  assert.deepEqual(log, ['first 60', 'timer 90', 'second 120'])
})

test('a timer may request a move, which happens after the current one', async () => {
  const { clock, timers, log, at } = loggedClock()
  let nested: Promise<void> | undefined
  timers.after(1000, () => {
    nested = clock.advance('1h')
    at('timer')()
  })
  await clock.advance('1m')
  at('moved')()
  await nested
  at('moved again')()
  assert.deepEqual(log, ['timer 1', 'moved 60', 'moved again 3660'])
})

test('close ends a move, which rejects; later moves reject, too', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(1000, () => {
    at('timer')()
    clock.close()
  })
  timers.after(2000, at('never'))
  await assert.rejects(clock.advance('1h'), /the server is closed/)
  await assert.rejects(clock.advance('1h'), /the server is closed/)
  assert.deepEqual(log, ['timer 1'])
})

test('an error of a timer rejects the move; the next one continues', async () => {
  const { clock, timers, log, at } = loggedClock()
  timers.after(1000, async () => {
    throw new Error('broken')
  })
  timers.after(2000, at('next'))
  await assert.rejects(clock.advance('1m'), /broken/)
  await clock.advance('1m')
  assert.deepEqual(log, ['next 2'])
})
