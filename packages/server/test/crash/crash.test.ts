// One server with the embedded store, killed at random times: an episode of `npm run robustness` without other faults.
//
// CRASH_SECONDS sets the length of each episode. CRASH_SEED repeats the random choices of a run, but not its timing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { runEpisode } from '../../../../test/robustness/episode.js'
import { startLmdbSubject } from '../../../../test/robustness/lmdb-subject.js'
import { renderViolations, summaryOf } from '../../../../test/robustness/report.js'
import { killFaults } from '../../../../test/robustness/subject.js'

const seconds = Number(process.env['CRASH_SECONDS'] ?? 5)
const { seed } = seededRandom('CRASH_SEED')

for (const compactsHistory of [false, true]) {
  test(`kill -9 with writers and watchers${compactsHistory ? ', while history is compacted' : ''}`, async (context) => {
    const subject = await startLmdbSubject({ compactsHistory })
    try {
      const kills = { ...subject, faults: [killFaults(subject.replicas)] }
      const result = await runEpisode(kills, { seed, seconds, minFaults: 4, log: () => undefined })
      context.diagnostic(`CRASH_SEED=${seed}\n${summaryOf(result)}`)
      assert.equal(result.violations.length, 0, `CRASH_SEED=${seed}\n${renderViolations(result)}`)
      assert.ok(result.writes.ok > 5, `${result.writes.ok} writes: too few to say anything`)
    } finally {
      await subject.close()
    }
  })
}
