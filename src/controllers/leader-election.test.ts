// Who runs the loops: one at a time, another one when it is gone, and nobody who cannot say so any more.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { type Closing, timedTest } from '../base/timed-test.fixture.js'
import { LeaderElection, type LeaseKeeper, type LeaseState } from './leader-election.js'

const times = { renewMs: 20, giveUpMs: 400, lookMs: 10 }

/** One lease that several share; whoever is cut off from it cannot write. */
class SharedLease {
  state: LeaseState | undefined
  writes = 0
  durationMs = 1500
  /** How long it takes until somebody hears that a write was made. */
  answerMs = 1
  readonly cutOff = new Set<string>()

  keeperOf(name: string): LeaseKeeper {
    return {
      read: () => this.state,
      write: async (holder, seen) => {
        await sleep(1)
        if (this.cutOff.has(name)) throw new Error('no way there')
        if (this.state?.version !== seen?.version) return false
        this.writes += 1
        this.state = { version: String(this.writes), holder, durationMs: this.durationMs }
        await sleep(this.answerMs)
        return true
      },
    }
  }
}

function setUp(attempt: Closing) {
  const lease = new SharedLease()
  const running = new Set<string>()
  let most = 0
  const candidate = (name: string): LeaderElection => {
    const election = new LeaderElection({
      keeper: lease.keeperOf(name),
      holder: name,
      logger: silentLogger,
      times,
      start: () => {
        running.add(name)
        most = Math.max(most, running.size)
        return [
          {
            close: async () => {
              running.delete(name)
            },
          },
        ]
      },
    })
    attempt.after(() => election.close())
    return election
  }
  return { lease, running, candidate, most: () => most }
}

async function until(isDone: () => boolean, what: string): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (!isDone()) {
    assert.ok(performance.now() < untilMs, what)
    await sleep(5)
  }
}

timedTest('a lease that is won while its winner ends is given back', async (attempt) => {
  const { running, candidate, lease } = setUp(attempt)
  const one = candidate('a')
  await one.close()
  assert.deepEqual([lease.state?.holder, lease.writes, running.size], ['', 2, 0])
})

timedTest('one of several leads, and hands over at once when it ends', async (attempt) => {
  const { running, candidate, most, lease } = setUp(attempt)
  // Nobody waits for the end of such a lease here.
  lease.durationMs = 3_600_000
  const all = new Map(['a', 'b', 'c'].map((name) => [name, candidate(name)]))
  await until(() => running.size === 1, 'one leads')
  await until(() => lease.writes >= 5, 'and goes on')
  const [first = ''] = running
  assert.equal(lease.state?.holder, first)
  await all.get(first)?.close()
  await until(() => running.size === 1, 'another one leads')
  assert.notEqual([...running][0], first)
  await Promise.all([...all.values()].map((each) => each.close()))
  assert.equal(running.size, 0)
  assert.equal(lease.state?.holder, '')
  assert.equal(most(), 1)
})

timedTest('a leader that cannot renew stops before another one begins', async (attempt) => {
  const { running, candidate, most, lease } = setUp(attempt)
  const first = candidate('a')
  await until(() => running.has('a'), 'the first leads')
  const second = candidate('b')
  lease.cutOff.add('a')
  await until(() => running.has('b'), 'the second leads')
  assert.equal(most(), 1)
  lease.cutOff.delete('a')
  const { writes } = lease
  await until(() => lease.writes >= writes + 3, 'the second goes on')
  assert.deepEqual([...running], ['b'])
  await Promise.all([first.close(), second.close()])
})

timedTest('a leader that is known by its name goes on at once after a restart', async (attempt) => {
  const { running, candidate, lease } = setUp(attempt)
  lease.state = { version: 'x', holder: 'a', durationMs: 60_000 }
  const again = candidate('a')
  await until(() => running.has('a'), 'it leads')
  await again.close()
})

timedTest('a lease that somebody deleted is made anew', async (attempt) => {
  const { running, candidate, lease } = setUp(attempt)
  const leader = candidate('a')
  await until(() => running.has('a'), 'it leads')
  lease.state = undefined
  await until(() => lease.state?.holder === 'a', 'the lease is back')
  await leader.close()
})

timedTest('who hears too late that it has the lease does not begin: it may belong to somebody else by then', async (attempt) => {
  const { running, candidate, lease } = setUp(attempt)
  lease.answerMs = times.giveUpMs + 50
  const leader = candidate('a')
  await until(() => lease.writes >= 2, 'it tries again')
  assert.equal(running.size, 0)
  lease.answerMs = 1
  await until(() => running.has('a'), 'it leads')
  await leader.close()
})

timedTest('loops that take long to end are waited for, and the lease is written anew before others begin', async (attempt) => {
  const lease = new SharedLease()
  let starts = 0
  let end: () => void = () => undefined
  const leader = new LeaderElection({
    keeper: lease.keeperOf('a'),
    holder: 'a',
    logger: silentLogger,
    times,
    start: () => {
      starts += 1
      return [{ close: () => (starts === 1 ? new Promise<void>((resolve) => (end = resolve)) : Promise.resolve()) }]
    },
  })
  attempt.after(() => leader.close())
  await until(() => starts === 1, 'it leads')
  lease.cutOff.add('a')
  await until(() => !leader.isLeading, 'it gives up')
  lease.cutOff.delete('a')
  const { writes } = lease
  await until(() => lease.writes > writes, 'it has the lease')
  await sleep(times.giveUpMs + 50)
  assert.equal(starts, 1)
  const before = lease.writes
  end()
  await until(() => starts === 2, 'it leads again')
  assert.ok(lease.writes > before)
  await leader.close()
})
