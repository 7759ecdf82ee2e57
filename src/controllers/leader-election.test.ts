// Who runs the loops: one at a time, another one when it is gone, and nobody who cannot say so any more.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '../base/logger.js'
import { timedTest } from '../base/timed-test.fixture.js'
import { LeaderElection, type LeaseKeeper, type LeaseState } from './leader-election.js'

const times = { renewMs: 20, giveUpMs: 120, lookMs: 10 }
const durationMs = 250

/** One lease that several share; whoever is cut off from it cannot write. */
class SharedLease {
  state: LeaseState | undefined
  writes = 0
  readonly cutOff = new Set<string>()

  keeperOf(name: string): LeaseKeeper {
    return {
      read: () => this.state,
      write: async (holder, seen) => {
        await sleep(1)
        if (this.cutOff.has(name)) throw new Error('no way there')
        if (this.state?.version !== seen?.version) return false
        this.writes += 1
        this.state = { version: String(this.writes), holder, durationMs }
        return true
      },
    }
  }
}

function setUp() {
  const lease = new SharedLease()
  const running = new Set<string>()
  let most = 0
  const candidate = (name: string): LeaderElection =>
    new LeaderElection({
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
  return { lease, running, candidate, most: () => most }
}

async function until(isDone: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !isDone(); waited += 5) {
    assert.ok(waited < 30_000, what)
    await sleep(5)
  }
}

timedTest('one of several leads, and hands over at once when it ends', async () => {
  const { running, candidate, most, lease } = setUp()
  const all = new Map(['a', 'b', 'c'].map((name) => [name, candidate(name)]))
  await until(() => running.size === 1, 'one leads')
  await sleep(durationMs * 1.5)
  const [first = ''] = running
  assert.equal(lease.state?.holder, first)
  const startMs = performance.now()
  await all.get(first)?.close()
  await until(() => running.size === 1, 'another one leads')
  assert.ok(performance.now() - startMs < durationMs, 'without waiting for the end of the lease')
  assert.notEqual([...running][0], first)
  await Promise.all([...all.values()].map((each) => each.close()))
  assert.equal(running.size, 0)
  assert.equal(lease.state?.holder, '')
  assert.equal(most(), 1)
})

timedTest('a leader that cannot renew stops before another one begins', async () => {
  const { running, candidate, most, lease } = setUp()
  const first = candidate('a')
  await until(() => running.has('a'), 'the first leads')
  const second = candidate('b')
  lease.cutOff.add('a')
  await until(() => running.has('b'), 'the second leads')
  assert.equal(most(), 1)
  lease.cutOff.delete('a')
  await sleep(100)
  assert.deepEqual([...running], ['b'])
  await Promise.all([first.close(), second.close()])
})

timedTest('a leader that is known by its name goes on at once after a restart', async () => {
  const { running, candidate, lease } = setUp()
  lease.state = { version: 'x', holder: 'a', durationMs: 60_000 }
  const again = candidate('a')
  await until(() => running.has('a'), 'it leads')
  await again.close()
})

timedTest('a lease that somebody deleted is made anew', async () => {
  const { running, candidate, lease } = setUp()
  const leader = candidate('a')
  await until(() => running.has('a'), 'it leads')
  lease.state = undefined
  await until(() => lease.state?.holder === 'a', 'the lease is back')
  await leader.close()
})
