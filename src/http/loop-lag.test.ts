// The lag of the event loop: when work is refused, when it is not, and that nothing is measured while nobody asks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from './exchange.js'
import { LoopLag } from './loop-lag.js'
import { OverloadedError } from './pressure.js'

/** A loop whose ticks come as late as they are told to. */
class LateLoop {
  isRunning = false
  private nowMs = 0
  private call = (): void => undefined
  now(): number {
    return this.nowMs
  }
  every(_ms: number, call: () => void): () => void {
    this.isRunning = true
    this.call = call
    return () => {
      this.isRunning = false
    }
  }
  tick(lagMs: number): void {
    this.nowMs += 50 + lagMs
    if (this.isRunning) this.call()
  }
}

function loopLag(): { loop: LateLoop; lag: LoopLag } {
  const loop = new LateLoop()
  const lag = new LoopLag(loop)
  lag.touch()
  return { loop, lag }
}

test('late for a second: overloaded; in time once: not any more', () => {
  const { loop, lag } = loopLag()
  for (let i = 0; i < 5; i++) loop.tick(120)
  assert.equal(lag.isOverloaded, false)
  loop.tick(120)
  assert.equal(lag.isOverloaded, true)
  assert.equal(lag.seconds, 0.12)
  loop.tick(3)
  assert.equal(lag.isOverloaded, false)
})

test('late now and again is not overloaded', () => {
  const { loop, lag } = loopLag()
  for (let i = 0; i < 30; i++) loop.tick(i % 2 === 0 ? 300 : 20)
  assert.equal(lag.isOverloaded, false)
})

test('a process that was stopped is not overloaded when it goes on', () => {
  const { loop, lag } = loopLag()
  loop.tick(3_600_000)
  assert.equal(lag.isOverloaded, false)
  assert.equal(lag.seconds, 3600)
})

test('nothing is measured while there are no requests', () => {
  const { loop, lag } = loopLag()
  for (let i = 0; i < 60; i++) loop.tick(0)
  assert.equal(loop.isRunning, false)
  assert.equal(lag.isMeasuring, false)
  lag.touch()
  assert.equal(loop.isRunning, true)
})

const exchangeOf = (path: string, verb: string, groups: readonly string[]): Exchange =>
  ({
    info: { path, verb, isResource: path.startsWith('/api/v1/') },
    user: { name: 'x', uid: '', groups, extra: {} },
  }) as unknown as Exchange

const rows: readonly { path: string; verb: string; groups?: readonly string[]; goesOn: boolean }[] = [
  { path: '/api/v1/pods', verb: 'list', goesOn: false },
  { path: '/api/v1/pods', verb: 'create', groups: ['system:authenticated'], goesOn: false },
  { path: '/apis', verb: 'get', goesOn: false },
  { path: '/metrics', verb: 'get', goesOn: false },
  { path: '/api/v1/pods', verb: 'watch', goesOn: true },
  { path: '/livez', verb: 'get', goesOn: true },
  { path: '/readyz/etcd', verb: 'get', goesOn: true },
  { path: '/api/v1/pods', verb: 'create', groups: ['system:masters'], goesOn: true },
]

for (const { path, verb, groups = [], goesOn } of rows)
  test(`overloaded: ${verb} ${path} by ${groups.join() || 'anybody'} ${goesOn ? 'goes on' : 'is refused'}`, () => {
    const { loop, lag } = loopLag()
    for (let i = 0; i < 10; i++) loop.tick(500)
    const exchange = exchangeOf(path, verb, groups)
    if (goesOn) assert.equal(lag.shed(exchange), false)
    else assert.throws(() => lag.shed(exchange), OverloadedError)
  })
