// `npm run robustness`: runs episodes with random clients and faults until the time is up.

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { runEpisode } from './episode.js'
import { startLmdbSubject } from './lmdb-subject.js'
import { renderViolations, summaryOf, Totals } from './report.js'
import type { Subject } from './subject.js'

const usage = `npm run robustness -- [--engine lmdb,workers,etcd1,etcd3] [--workers 2] [--seconds 60] [--episode 20] [--seed N] [--quiet]

  --engine    lmdb: one server; workers: one server with worker processes; etcd1: one server on a one-member etcd; etcd3: three servers on a three-member etcd (default: all)
  --workers   number of worker processes of the engine workers (default 2)
  --seconds   duration per engine (default 60)
  --episode   duration of an episode; each starts with empty servers (default 20)
  --seed      seed of the first episode (default: random); repeat one episode with its seed and --seconds 1
  --quiet     do not print single faults`

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lmdb,workers,etcd1,etcd3' },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '60' },
    episode: { type: 'string', default: '20' },
    seed: { type: 'string' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}

/** Odd seeds compact history after 2 s, even seeds keep it, so that a seed repeats both. */
const compactsHistoryFor = (seed: number): boolean => seed % 2 === 1

const subjects: { readonly [name: string]: (compactsHistory: boolean) => Promise<Subject> } = {
  lmdb: (compactsHistory) => startLmdbSubject({ compactsHistory }),
  workers: (compactsHistory) => startLmdbSubject({ compactsHistory, workers: Number(values.workers) }),
  etcd1: async (compactsHistory) => (await import('./etcd-subject.js')).startEtcdSubject({ replicas: 1, members: 1, compactsHistory }),
  etcd3: async (compactsHistory) => (await import('./etcd-subject.js')).startEtcdSubject({ replicas: 3, members: 3, compactsHistory }),
}

const engines = values.engine.split(',')
const unknown = engines.filter((name) => !(name in subjects))
if (unknown.length > 0) {
  console.error(`--engine: unknown ${unknown.join(', ')}; choose from ${Object.keys(subjects).join(', ')}`)
  process.exit(2)
}

let running: Subject | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.log('interrupted')
    void Promise.resolve(running?.close()).finally(() => process.exit(130))
  })
}

let seed = values.seed === undefined ? newSeed() : Number(values.seed)
const totals = new Map<string, Totals>()
for (const engine of engines) {
  const total = new Totals()
  totals.set(engine, total)
  const untilMs = performance.now() + Number(values.seconds) * 1000
  do {
    console.log(`${engine}, seed ${seed}${compactsHistoryFor(seed) ? ', history is compacted after 2 s' : ''}`)
    const subject = await subjects[engine]?.(compactsHistoryFor(seed))
    if (subject === undefined) break
    running = subject
    for (const step of subject.skippedFaults) console.log(`  skipped: ${step}`)
    try {
      const log = (line: string): void => (values.quiet ? undefined : console.log(`  ${line}`))
      const result = await runEpisode(subject, { seed, seconds: Number(values.episode), log })
      console.log(summaryOf(result))
      total.add(result)
      if (result.violations.length > 0) {
        total.failed += 1
        console.log(renderViolations(result))
        console.log(
          `  repeat with: npm run robustness -- --engine ${engine} --workers ${values.workers} --seed ${seed} --episode ${values.episode} --seconds 1`,
        )
      }
    } catch (error) {
      // For example a server that does not start.
      total.failed += 1
      console.log(`  FAILED: ${error instanceof Error ? error.stack : error}`)
    } finally {
      running = undefined
      await subject.close()
    }
    total.episodes += 1
    seed += 1
  } while (performance.now() < untilMs)
}
for (const [engine, total] of totals) console.log(total.render(engine))
process.exit([...totals.values()].every(({ failed }) => failed === 0) ? 0 : 1)
