// Event loop lag: which requests are refused and when, and that the timer stops without requests.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventLoopLag } from './event-loop-lag.js'
import { OverloadedError } from './memory-pressure.js'
import type { FlowRequest } from './request.js'

/** A clock whose ticks are late by a given time. */
class LateClock {
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

function eventLoopLag(): { clock: LateClock; lag: EventLoopLag } {
  const clock = new LateClock()
  const lag = new EventLoopLag(clock)
  lag.touch()
  return { clock, lag }
}

test('lag for a second means overloaded, until one tick is in time', () => {
  const { clock, lag } = eventLoopLag()
  for (let i = 0; i < 5; i++) clock.tick(120)
  assert.equal(lag.isOverloaded, false)
  clock.tick(120)
  assert.equal(lag.isOverloaded, true)
  assert.equal(lag.seconds, 0.12)
  clock.tick(3)
  assert.equal(lag.isOverloaded, false)
})

test('single late ticks do not mean overloaded', () => {
  const { clock, lag } = eventLoopLag()
  for (let i = 0; i < 30; i++) clock.tick(i % 2 === 0 ? 300 : 20)
  assert.equal(lag.isOverloaded, false)
})

test('a suspended process is not overloaded when it resumes', () => {
  const { clock, lag } = eventLoopLag()
  clock.tick(3_600_000)
  assert.equal(lag.isOverloaded, false)
  assert.equal(lag.seconds, 3600)
})

test('the timer stops without requests', () => {
  const { clock, lag } = eventLoopLag()
  for (let i = 0; i < 60; i++) clock.tick(0)
  assert.equal(clock.isRunning, false)
  assert.equal(lag.isMeasuring, false)
  lag.touch()
  assert.equal(clock.isRunning, true)
})

const requestOf = (path: string, verb: string, groups: readonly string[]): FlowRequest =>
  ({
    info: { path, verb, isResource: path.startsWith('/api/v1/') },
    user: { name: 'x', uid: '', groups, extra: {} },
  }) as unknown as FlowRequest

const rows: readonly { path: string; verb: string; groups?: readonly string[]; isServed: boolean }[] = [
  { path: '/api/v1/pods', verb: 'list', isServed: false },
  { path: '/api/v1/pods', verb: 'create', groups: ['system:authenticated'], isServed: false },
  { path: '/apis', verb: 'get', isServed: false },
  { path: '/metrics', verb: 'get', isServed: false },
  { path: '/api/v1/pods', verb: 'watch', isServed: true },
  { path: '/livez', verb: 'get', isServed: true },
  { path: '/readyz/etcd', verb: 'get', isServed: true },
  { path: '/api/v1/pods', verb: 'create', groups: ['system:masters'], isServed: true },
]

for (const { path, verb, groups = [], isServed } of rows)
  test(`overloaded: ${verb} ${path} by ${groups.join() || 'a user without groups'} ${isServed ? 'is served' : 'is refused'}`, async () => {
    const { clock, lag } = eventLoopLag()
    for (let i = 0; i < 10; i++) clock.tick(500)
    const request = requestOf(path, verb, groups)
    const shed = lag.shed({ maxReadOnly: 400, maxMutating: 200 })
    if (isServed) assert.equal(await shed(request), false)
    else await assert.rejects(shed(request), OverloadedError)
  })

test('overloaded: requests without a limit are served', async () => {
  const { clock, lag } = eventLoopLag()
  for (let i = 0; i < 10; i++) clock.tick(500)
  const [read, write] = [requestOf('/api/v1/pods', 'list', []), requestOf('/api/v1/pods', 'create', [])]
  const unlimited = lag.shed({ maxReadOnly: Number.POSITIVE_INFINITY, maxMutating: Number.POSITIVE_INFINITY })
  assert.deepEqual([await unlimited(read), await unlimited(write)], [false, false])
  const shedWrites = lag.shed({ maxReadOnly: Number.POSITIVE_INFINITY, maxMutating: 200 })
  assert.equal(await shedWrites(read), false)
  await assert.rejects(shedWrites(write), OverloadedError)
})
