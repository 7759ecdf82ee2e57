// Short form of `npm run robustness`: one short episode per available engine. ROBUSTNESS_SEED repeats the random choices (not the timing),
// ROBUSTNESS_SECONDS sets the length.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { seededRandom } from '../kit/seeded-random.js'
import { runEpisode } from './episode.js'
import { startLmdbSubject } from './lmdb-subject.js'
import { renderViolations, summaryOf } from './report.js'
import type { Subject } from './subject.js'

const seconds = Number(process.env['ROBUSTNESS_SECONDS'] ?? 3)
const { seed } = seededRandom('ROBUSTNESS_SEED')
const compactsHistory = seed % 2 === 1

/** The short form installs nothing. */
const hasEtcd =
  spawnSync('etcd', ['--version'], {
    stdio: 'ignore',
    env: { ...process.env, ...(process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}) },
  }).status === 0

// Imported here and not in the tests: the `after` hook of the module must run at the end of the file.
const etcd = hasEtcd ? await import('./etcd-subject.js') : undefined
const onEtcd = async (count: number): Promise<Subject> => {
  if (etcd === undefined) throw new Error('etcd is not installed')
  return etcd.startEtcdSubject({ replicas: count, members: count, compactsHistory })
}

async function runTest(start: () => Promise<Subject>, log: (text: string) => void): Promise<void> {
  log(`ROBUSTNESS_SEED=${seed}`)
  const subject = await start()
  try {
    const result = await runEpisode(subject, { seed, seconds, log: () => undefined })
    log(summaryOf(result))
    assert.equal(result.violations.length, 0, `ROBUSTNESS_SEED=${seed}\n${renderViolations(result)}`)
    assert.ok(result.writes.ok > 5, `only ${result.writes.ok} writes were acknowledged: too few for a result`)
  } finally {
    await subject.close()
  }
}

// Episodes mostly wait, so they run concurrently.
describe('linearizable writes, consistent reads and complete watches under faults', { concurrency: 3 }, () => {
  test('one server, embedded store', (t) =>
    runTest(
      () => startLmdbSubject({ compactsHistory }),
      (text) => t.diagnostic(text),
    ))

  test('one server with two worker processes, embedded store', (t) =>
    runTest(
      () => startLmdbSubject({ compactsHistory, workers: 2 }),
      (text) => t.diagnostic(text),
    ))

  for (const count of [1, 3]) {
    test(`etcd with ${count} members, ${count} servers`, { skip: hasEtcd ? false : 'etcd is not installed' }, async (t) => {
      await runTest(
        () => onEtcd(count),
        (text) => t.diagnostic(text),
      )
    })
  }
})
