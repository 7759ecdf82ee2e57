// A minute of `npm run fuzz` with a fixed seed: the server lives, stays quick, gives memory back, and every answer can be read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFuzz } from './run-fuzz.js'

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 60)

test('mutated requests of every form', async (t) => {
  const end = performance.now() + seconds * 1000
  const { requests, codes, findings } = await runFuzz({
    seed: 11,
    // A slow machine is given more time for a few of them.
    isOver: (sent) => performance.now() >= end && (sent > 1000 || performance.now() >= end + 60_000),
    livezMs: 1000,
    growthMiB: 32,
    ownGrowthMiB: 96,
    warmUpRequests: 2000,
    restMs: 500,
  })
  t.diagnostic(`${requests} requests: ${JSON.stringify(codes)}`)
  assert.equal(findings.join('\n'), '')
  assert.ok(requests > 200, `only ${requests} requests`)
  for (const code of ['200', '201', '400', '401', '404', '422'])
    assert.ok((codes[code] ?? 0) > 0, `no ${code} among ${JSON.stringify(codes)}`)
})
