// The short form of `npm run robustness`: one short episode on each engine that is at hand. ROBUSTNESS_SEED repeats the choices of an earlier run
// (not its timing), ROBUSTNESS_SECONDS makes the episodes longer.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { seededRandom } from '../kit/seeded-random.js'
import { runEpisode } from './episode.js'
import { startLmdbSubject } from './lmdb-subject.js'
import { summaryOf, tellViolations } from './report.js'
import type { Subject } from './subject.js'

const seconds = Number(process.env['ROBUSTNESS_SECONDS'] ?? 3)
const { seed } = seededRandom('ROBUSTNESS_SEED')
const forgets = seed % 2 === 1

/** Nothing is installed for the short form. */
const hasEtcd =
  spawnSync('etcd', ['--version'], {
    stdio: 'ignore',
    env: { ...process.env, ...(process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}) },
  }).status === 0

// Looked up here and not in the tests: its clean-up belongs to the file and not to the first test that is done.
const etcd = hasEtcd ? await import('./etcd-subject.js') : undefined
const onEtcd = async (count: number): Promise<Subject> => {
  if (etcd === undefined) throw new Error('etcd is not installed')
  return etcd.startEtcdSubject({ replicas: count, members: count, forgets })
}

async function play(start: () => Promise<Subject>, say: (text: string) => void): Promise<void> {
  say(`ROBUSTNESS_SEED=${seed}`)
  const subject = await start()
  try {
    const result = await runEpisode(subject, { seed, seconds, say: () => undefined })
    say(summaryOf(result))
    assert.equal(result.violations.length, 0, `ROBUSTNESS_SEED=${seed}\n${tellViolations(result)}`)
    assert.ok(result.writes.ok > 5, `a healed server took ${result.writes.ok} writes: too few to say anything`)
  } finally {
    await subject.close()
  }
}

// Most of the time is spent waiting, so they wait together.
describe('nothing is lost, missed, repeated or invented', { concurrency: 3 }, () => {
  test('one server with the embedded store', (t) =>
    play(
      () => startLmdbSubject({ forgets }),
      (text) => t.diagnostic(text),
    ))

  for (const count of [1, 3]) {
    test(`etcd, ${count} of each`, { skip: hasEtcd ? false : 'etcd is not installed' }, async (t) => {
      await play(
        () => onEtcd(count),
        (text) => t.diagnostic(text),
      )
    })
  }
})
