// Short form of `npm run soak`, and tests of its verdict.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../kit/seeded-random.js'
import { problemsOf, renderVerdict, type SoakVerdict, soak } from './soak.js'
import { minimaOf, trendOf } from './trend.js'

const seconds = Number(process.env['SOAK_SECONDS'] ?? 8)

test('a few seconds of load', async (t) => {
  const random = seededRandom('SOAK_SEED')
  t.diagnostic(`SOAK_SEED=${random.seed}`)
  const flags = ['--etcd-compaction-interval=2s', '--read-cache-bytes=8Mi']
  const minimums = { requests: 100, watches: 3, namespaces: 2 }
  const verdict = await soak({ seconds, sampleSeconds: seconds / 20, rate: 150, random, flags, minimums, log: () => undefined })
  t.diagnostic(renderVerdict(verdict))
  // The code is not compiled yet, so only extreme growth fails.
  assert.deepEqual(problemsOf(verdict, { memoryShare: 1, memoryBytes: 100 << 20, descriptors: 25 }), [])
  assert.ok(verdict.requests >= minimums.requests && verdict.watches >= minimums.watches && verdict.namespaces >= minimums.namespaces)
})

test('the trend is a line through the minimum of each window', () => {
  const points = Array.from({ length: 60 }, (_, i) => ({ atMs: i * 60_000, value: 100 + i * 2 + (i % 5) * 50 }))
  const { rise, risePerHour } = trendOf(minimaOf(points, 5))
  assert.ok(Math.abs(risePerHour - 120) < 0.001)
  assert.ok(Math.abs(rise - 110) < 0.001)
  assert.deepEqual(trendOf([]), { mean: 0, rise: 0, risePerHour: 0 })
})

test('growth is reported', () => {
  const flat = { mean: 100 << 20, rise: 0, risePerHour: 0 }
  const limits = { memoryShare: 0.05, memoryBytes: 1, descriptors: 4 }
  const verdict: SoakVerdict = {
    samples: [],
    memory: [flat, flat],
    descriptors: { ...flat, mean: 40 },
    idle: { before: 20, after: 21 },
    failures: new Map(),
    requests: 1,
    watches: 1,
    events: 1,
    namespaces: 1,
  }
  assert.deepEqual(problemsOf(verdict, limits), [])
  assert.match(
    problemsOf({ ...verdict, memory: [flat, { ...flat, rise: 6 << 20 }] }, limits)[0] ?? '',
    /memory of worker 1 grows by 6.0 MiB; 5.0/,
  )
  assert.match(problemsOf({ ...verdict, descriptors: { ...flat, rise: 5 } }, limits)[0] ?? '', /descriptors grow/)
  assert.match(problemsOf({ ...verdict, idle: { before: 20, after: 30 } }, limits)[0] ?? '', /30 file descriptors/)
  assert.deepEqual(problemsOf({ ...verdict, failures: new Map([['GET /x: 500', 3]]) }, limits), ['3 × GET /x: 500'])
})
