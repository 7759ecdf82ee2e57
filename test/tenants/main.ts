// `npm run tenants`: tenants with disjoint permissions at one server, or at two on one etcd; no tenant may see or change data of another.

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { newSeed } from '../kit/seeded-random.js'
import { type FaultName, faultNames } from './faults.js'
import { renderResult } from './report.js'
import { runTenants } from './run.js'
import { type Engine, type Servers, startServers } from './servers.js'
import { makeUsers } from './tenant.js'
import { Contention } from './workload/contention.js'

const usage = `npm run tenants -- [--engine lmdb,workers,memory,etcd] [--workers 2] [--seconds 60] [--seed N] [--processors 1|2] [--faults stalls,threads,kill,clients,overload]
                  [--mix all|reported] [--tenants 4] [--lanes 3]

  --engine      stores to test, one after the other; workers: lmdb with worker processes; etcd: two servers that share one etcd (default: lmdb)
  --workers     number of worker processes (default 2)
  --seconds     how long for each of them (default 60)
  --seed        repeats the choices of an earlier run, not its timing
  --processors  1: the servers have one CPU, together with two processes that wake up every 30 µs (default 2)
  --faults      stalls: SIGSTOP for up to 200 ms; threads: single threads get hardly any CPU time; kill: kill -9 and restart;
                clients: hang up, and stall while they write or read; overload: twelve more clients per tenant with large requests
                (default: clients)
  --mix         reported: only large Roles as dry runs, large ConfigMaps and Secrets as YAML, and reads of the system's Secrets (default all)
  --tenants     how many (default 4)
  --lanes       clients per tenant that send these requests, each with connections of its own (default 3)`

const engineNames: readonly Engine[] = ['lmdb', 'workers', 'memory', 'etcd']
const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lmdb' },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(newSeed()) },
    processors: { type: 'string', default: '2' },
    faults: { type: 'string', default: 'clients' },
    mix: { type: 'string', default: 'all' },
    tenants: { type: 'string', default: '4' },
    lanes: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}

function listOf<T extends string>(option: string, text: string, known: readonly T[]): readonly T[] {
  const names = text.split(',').filter((name) => name !== '')
  const unknown = names.filter((name) => !known.includes(name as T))
  if (unknown.length === 0) return names as T[]
  console.error(`--${option}: unknown ${unknown.join(', ')}; choose from ${known.join(', ')}`)
  process.exit(2)
}

const engines = listOf('engine', values.engine, engineNames)
const faults: readonly FaultName[] = listOf('faults', values.faults, faultNames)
const seed = Number(values.seed)
const processor = values.processors === '1' ? availableParallelism() - 1 : undefined
const contention = new Contention()
if (processor !== undefined) contention.addSleepers(processor)

let running: Servers | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.log('interrupted')
    contention.close()
    void Promise.resolve(running?.close()).finally(() => process.exit(130))
  })
}
process.once('exit', () => contention.close())

let isGood = true
for (const engine of engines) {
  console.log(
    `${engine}, seed ${seed}, ${values.tenants} tenants${processor === undefined ? '' : `, servers on CPU ${processor}`}, faults: ${faults.join(', ') || 'none'}`,
  )
  const users = makeUsers(seed, Number(values.tenants))
  running = await startServers(engine, { flags: users.flags, processor, workers: Number(values.workers) })
  try {
    const result = await runTenants(running, users, {
      seed,
      faults,
      processor,
      mix: values.mix === 'reported' ? 'reported' : 'all',
      lanes: Number(values.lanes),
      roles: 60,
      isOver: (_requests, elapsedMs) => elapsedMs >= Number(values.seconds) * 1000,
      checkEveryMs: 5000,
      log: (line) => console.log(`  ${line}`),
    })
    console.log(renderResult(result))
    if (result.checks.findings.length > 0) {
      isGood = false
      console.log(
        `  repeat with: npm run tenants -- --engine ${engine} --workers ${values.workers} --seed ${seed} --seconds ${values.seconds} --processors ${values.processors} --faults '${values.faults}' --mix ${values.mix} --tenants ${values.tenants} --lanes ${values.lanes}`,
      )
    }
  } finally {
    await running.close()
    users.removeFiles()
    running = undefined
  }
}
contention.close()
process.exit(isGood ? 0 : 1)
