// Leader election: one leader at a time, handover, loss of the lease, restart.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { FakeTimers } from '../framework/timers.fixture.js'
import { type Controller, LeaderElection, type LeaseState, type LeaseStore } from './leader-election.js'

const times = { renewMs: 20, giveUpMs: 400, pollMs: 10 }

/** One lease that several replicas share. Replicas in `cutOff` cannot write it. */
class SharedLease {
  state: LeaseState | undefined
  writes = 0
  durationMs = 1500
  writeMs = 0
  readonly cutOff = new Set<string>()
  readonly #timers: FakeTimers

  constructor(timers: FakeTimers) {
    this.#timers = timers
  }

  storeOf(name: string): LeaseStore {
    return {
      read: () => this.state,
      write: async (holder, expected) => {
        if (this.cutOff.has(name)) throw new Error('unreachable')
        if (this.state?.version !== expected?.version) return false
        this.writes += 1
        this.state = { version: String(this.writes), holder, durationMs: this.durationMs }
        if (this.writeMs > 0) await new Promise<void>((resolve) => this.#timers.after(this.writeMs, resolve))
        return true
      },
    }
  }
}

function setUp(t: TestContext) {
  const timers = new FakeTimers()
  const lease = new SharedLease(timers)
  const running = new Set<string>()
  let maxRunning = 0
  const startOf = (name: string) => (): readonly Controller[] => {
    running.add(name)
    maxRunning = Math.max(maxRunning, running.size)
    return [{ close: async () => void running.delete(name) }]
  }
  const candidate = (name: string, start = startOf(name)): LeaderElection => {
    const election = new LeaderElection({ store: lease.storeOf(name), holder: name, logger: silentLogger, times, timers, start })
    t.after(() => election.close())
    return election
  }
  const until = async (isDone: () => boolean, condition: string): Promise<void> => {
    for (let steps = 0; !isDone(); steps++) {
      assert.ok(steps < 10_000, condition)
      await timers.advance(1)
    }
  }
  return { timers, lease, running, candidate, until, maxRunning: () => maxRunning }
}

test('a lease acquired during close is released', async (t) => {
  const { running, candidate, lease } = setUp(t)
  await candidate('a').close()
  assert.deepEqual([lease.state?.holder, lease.writes, running.size], ['', 2, 0])
})

test('one of several replicas leads, and releases the lease on close', async (t) => {
  const { running, candidate, maxRunning, lease, until } = setUp(t)
  lease.durationMs = 3_600_000
  const all = new Map(['a', 'b', 'c'].map((name) => [name, candidate(name)]))
  await until(() => running.size === 1, 'one replica leads')
  await until(() => lease.writes >= 5, 'the leader renews the lease')
  const [first = ''] = running
  assert.equal(lease.state?.holder, first)
  await all.get(first)?.close()
  await until(() => running.size === 1, 'another replica leads')
  assert.notEqual([...running][0], first)
  await Promise.all([...all.values()].map((each) => each.close()))
  assert.equal(running.size, 0)
  assert.equal(lease.state?.holder, '')
  assert.equal(maxRunning(), 1)
})

test('a leader that cannot renew stops before another starts', async (t) => {
  const { running, candidate, maxRunning, lease, until } = setUp(t)
  candidate('a')
  await until(() => running.has('a'), 'the first leads')
  candidate('b')
  lease.cutOff.add('a')
  await until(() => running.has('b'), 'the second leads')
  assert.equal(maxRunning(), 1)
  lease.cutOff.delete('a')
  const { writes } = lease
  await until(() => lease.writes >= writes + 3, 'the second renews the lease')
  assert.deepEqual([...running], ['b'])
})

test('a restarted leader with the same name leads immediately', async (t) => {
  const { timers, running, candidate, lease } = setUp(t)
  lease.state = { version: 'x', holder: 'a', durationMs: 60_000 }
  candidate('a')
  await timers.advance(0)
  assert.ok(running.has('a'))
})

test('a deleted lease is created again', async (t) => {
  const { running, candidate, lease, until } = setUp(t)
  candidate('a')
  await until(() => running.has('a'), 'it leads')
  lease.state = undefined
  await until(() => lease.state?.holder === 'a', 'the lease is back')
})

test('a replica that acquires the lease too late does not start its controllers', async (t) => {
  const { running, candidate, lease, until } = setUp(t)
  lease.writeMs = times.giveUpMs + 50
  candidate('a')
  await until(() => lease.writes >= 2, 'it tries again')
  assert.equal(running.size, 0)
  lease.writeMs = 0
  await until(() => running.has('a'), 'it leads')
})

test('controllers that close slowly delay the next start, before which the lease is renewed', async (t) => {
  const { timers, lease, candidate, until } = setUp(t)
  let starts = 0
  let end: () => void = () => undefined
  const leader = candidate('a', () => {
    starts += 1
    return [{ close: () => (starts === 1 ? new Promise<void>((resolve) => (end = resolve)) : Promise.resolve()) }]
  })
  await until(() => starts === 1, 'it leads')
  lease.cutOff.add('a')
  await until(() => !leader.isLeading, 'it gives up')
  lease.cutOff.delete('a')
  const { writes } = lease
  await until(() => lease.writes > writes, 'it has the lease')
  await timers.advance(times.giveUpMs + 50)
  assert.equal(starts, 1)
  const before = lease.writes
  end()
  await until(() => starts === 2, 'it leads again')
  assert.ok(lease.writes > before)
})
