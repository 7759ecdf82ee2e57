// At rest nothing is written: whoever starts the loops again, which look at everything then, finds nothing to do. What is not so is a loop that
// never ends, or an event that is told again and again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loops, loopsStage } from './loops-stage.fixture.js'

const minuteMs = 60_000

test('loops that are started again and again write nothing at rest', async () => {
  const { engine, catalog, timers, parts } = await loopsStage()
  const { store } = engine
  const written: string[] = []
  for (const resource of catalog.collections())
    store.watch({ resource, namespace: '', matches: undefined, deliver: ({ object, type }) => void written.push(`${type} ${object.key}`) })
  const runOnce = async (): Promise<void> => {
    const running = Object.values(loops).map((start) => start(parts))
    await timers.advance(5 * minuteMs)
    await Promise.all(running.map((loop) => loop.close()))
  }
  await runOnce()
  assert.ok(written.length >= 10, 'there was something to do')
  for (let round = 0; round < 4; round++) {
    written.length = 0
    await runOnce()
    assert.deepEqual(written, [], `round ${round}`)
  }
  assert.equal(timers.size, 0, 'no timer is left behind')
})
