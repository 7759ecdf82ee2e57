// `npm run soak`: an hour under load, and a verdict.

import { parseArgs } from 'node:util'
import { newSeed, randomFrom } from '../kit/seeded-random.js'
import { problemsOf, soak, tell } from './soak.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(`npm run soak -- [--minutes 60] [--rate 200] [--seed N] [-- flags of the server]

  --minutes   how long; the first three tenths are warm-up
  --rate      requests a second
  --seed      repeats the choices of an earlier run`)
  process.exit(0)
}

const seed = values.seed === undefined ? newSeed() : Number(values.seed)
const seconds = Number(values.minutes) * 60
console.log(`seed ${seed}`)
const verdict = await soak({
  seconds,
  sampleSeconds: Math.max(1, seconds / 120),
  rate: Number(values.rate),
  random: randomFrom(seed),
  // History must reach its full length during the warm-up, or its growth would be taken for a leak.
  flags: ['--etcd-compaction-interval=30s', '--event-ttl=2m', ...positionals],
  say: (line) => console.log(line),
})
console.log(tell(verdict))
const problems = problemsOf(verdict, { memoryShare: 0.1, memoryBytes: 4 << 20, descriptors: 4 })
for (const problem of problems) console.log(`NOT FLAT: ${problem}`)
if (problems.length === 0) console.log('flat')
process.exit(problems.length === 0 ? 0 : 1)
