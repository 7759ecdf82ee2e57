// `npm run soak`: constant load on a server, an hour by default; fails if memory or file descriptors grow, or requests fail.

import { parseArgs } from 'node:util'
import { EtcdCluster } from '../../packages/server/test/etcd/etcd-cluster.js'
import { newSeed, randomFrom } from '../kit/seeded-random.js'
import { problemsOf, renderVerdict, soak } from './soak.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    seed: { type: 'string' },
    etcd: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(`npm run soak -- [--minutes 60] [--rate 200] [--seed N] [--etcd 0] [-- flags of the server]

  --minutes   how long; the first three tenths are warm-up
  --rate      requests a second
  --seed      repeats the choices of an earlier run
  --etcd      stores in an etcd with so many members instead of the embedded store

With worker processes: npm run soak -- -- --workers=2`)
  process.exit(0)
}

const seed = values.seed === undefined ? newSeed() : Number(values.seed)
const seconds = Number(values.minutes) * 60
const members = Number(values.etcd)
const cluster = members > 0 ? await EtcdCluster.start({ members }) : undefined
const storeFlags = cluster === undefined ? [] : [`--etcd-servers=${cluster.endpoints.join()}`]
console.log(`seed ${seed}, ${cluster === undefined ? 'embedded store' : `etcd with ${members} members`}`)
const verdict = await soak({
  seconds,
  sampleSeconds: Math.max(1, seconds / 120),
  rate: Number(values.rate),
  random: randomFrom(seed),
  // History must reach its full length during the warm-up; otherwise its growth looks like a leak.
  flags: ['--etcd-compaction-interval=30s', '--event-ttl=2m', ...storeFlags, ...positionals],
  log: (line) => console.log(line),
})
await cluster?.stop()
console.log(renderVerdict(verdict))
const problems = problemsOf(verdict, { memoryShare: 0.05, memoryBytes: 4 << 20, descriptors: 4 })
for (const problem of problems) console.log(`NOT FLAT: ${problem}`)
if (problems.length === 0) console.log('flat')
process.exit(problems.length === 0 ? 0 : 1)
