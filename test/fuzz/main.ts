// `npm run fuzz`: mutated requests of every form against a server in a child process. `-- --minutes 60`, `-- --seed 7`.

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
  ownGrowthMiB: 64,
  warmUpRequests: 30_000,
  restMs: 35_000,
  say: (line) => console.log(line),
})
const { requests, codes, findings, longestTurnMs, before, after } = report
console.log(`seed ${values.seed}: ${requests} requests, ${findings.length} findings`)
console.log(`answers ${JSON.stringify(codes)}`)
console.log(`the event loop was held by a request sent alone: ${longestTurnMs.toFixed(0)} ms at most`)
if (before !== undefined && after !== undefined)
  console.log(
    `memory in use ${before.inUse.toFixed(1)} and ${after.inUse.toFixed(1)} MiB, own ${before.own.toFixed(1)} and ${after.own.toFixed(1)} MiB`,
  )
process.exitCode = findings.length === 0 ? 0 : 1
