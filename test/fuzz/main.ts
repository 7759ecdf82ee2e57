// `npm run fuzz`: sends mutated requests to a server process. Options: `--minutes 60`, `--seed 7`, `--livez-ms 50` (limit for /livez).

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { runFuzz } from './run-fuzz.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(newSeed()) },
    'livez-ms': { type: 'string', default: '50' },
  },
})
const end = performance.now() + Number(values.minutes) * 60_000
console.log(`seed ${values.seed}`)
const report = await runFuzz({
  seed: Number(values.seed),
  isOver: () => performance.now() >= end,
  livezMs: Number(values['livez-ms']),
  growthMiB: 32,
  residentGrowthMiB: 64,
  warmUpRequests: 30_000,
  restMs: 35_000,
  log: (line) => console.log(line),
})
const { requests, codes, findings, longestBlockMs, before, after } = report
console.log(`seed ${values.seed}: ${requests} requests, ${findings.length} findings`)
console.log(`responses ${JSON.stringify(codes)}`)
console.log(`longest event-loop block by a single request: ${longestBlockMs.toFixed(0)} ms`)
if (before !== undefined && after !== undefined)
  console.log(
    `memory in use ${before.inUse.toFixed(1)} and ${after.inUse.toFixed(1)} MiB, resident ${before.resident.toFixed(1)} and ${after.resident.toFixed(1)} MiB`,
  )
process.exitCode = findings.length === 0 ? 0 : 1
