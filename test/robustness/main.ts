// `npm run robustness`: episodes of random clients and faults, one after another, until the time is up.

import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { runEpisode } from './episode.js'
import { startLmdbSubject } from './lmdb-subject.js'
import { summaryOf, Totals, tellViolations } from './report.js'
import type { Subject } from './subject.js'

const usage = `npm run robustness -- [--engine lmdb,etcd1,etcd3] [--seconds 60] [--episode 20] [--seed N] [--quiet]

  --engine    what to test: one server with the embedded store, one server on one etcd, three servers on three (default: all)
  --seconds   how long for each of them (default 60)
  --episode   how long one episode lasts; each begins with empty servers (default 20)
  --seed      begin with this seed and not with a random one; an episode is repeated by its own seed and --seconds 1
  --quiet     say nothing of single faults`

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lmdb,etcd1,etcd3' },
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

/** An even seed keeps history, an odd one forgets it quickly, so that both are repeated with the seed. */
const forgetsFor = (seed: number): boolean => seed % 2 === 1

const subjects: { readonly [name: string]: (forgets: boolean) => Promise<Subject> } = {
  lmdb: (forgets) => startLmdbSubject({ forgets }),
  etcd1: async (forgets) => (await import('./etcd-subject.js')).startEtcdSubject({ replicas: 1, members: 1, forgets }),
  etcd3: async (forgets) => (await import('./etcd-subject.js')).startEtcdSubject({ replicas: 3, members: 3, forgets }),
}

const engines = values.engine.split(',')
const unknown = engines.filter((name) => !(name in subjects))
if (unknown.length > 0) {
  console.error(`--engine: there is no ${unknown.join(', ')}; choose from ${Object.keys(subjects).join(', ')}`)
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
    console.log(`${engine}, seed ${seed}${forgetsFor(seed) ? ', history is forgotten after 2 s' : ''}`)
    const subject = await subjects[engine]?.(forgetsFor(seed))
    if (subject === undefined) break
    running = subject
    for (const what of subject.leftOut) console.log(`  left out: ${what}`)
    try {
      const say = (line: string): void => (values.quiet ? undefined : console.log(`  ${line}`))
      const result = await runEpisode(subject, { seed, seconds: Number(values.episode), say })
      console.log(summaryOf(result))
      total.add(result)
      if (result.violations.length > 0) {
        total.failed += 1
        console.log(tellViolations(result))
        console.log(`  again: npm run robustness -- --engine ${engine} --seed ${seed} --episode ${values.episode} --seconds 1`)
      }
    } catch (error) {
      // Such as a server that does not start any more.
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
for (const [engine, total] of totals) console.log(total.tell(engine))
process.exit([...totals.values()].every(({ failed }) => failed === 0) ? 0 : 1)
