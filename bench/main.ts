// `npm run bench`: every workload beside its floor, measured in the same run, with the bar that it must not exceed.
//
//   npm run bench -- --quick              a short run
//   npm run bench -- --only get,list      some of the workloads
//   npm run bench -- --only large --count 200000   a large store with so many objects

import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { fill, Lab, makeNamespace, type Tested } from './lab.js'
import { hasPassed, type Line, renderTable, say } from './report.js'
import { measureAccess } from './workloads/access.js'
import { measureAudit } from './workloads/audit.js'
import { measureExtension } from './workloads/extension.js'
import { measureHooks } from './workloads/hooks.js'
import { measureIdentity } from './workloads/identity.js'
import { measureLoops } from './workloads/loops.js'
import { measureFullMemory, measureIdleMemory, measureListedMemory } from './workloads/memory.js'
import { measureProtobuf } from './workloads/protobuf.js'
import { measureProxy } from './workloads/proxy.js'
import { bigBody, measureGet, measureList, measurePages, measureSelector } from './workloads/reads.js'
import { measureStart } from './workloads/start.js'
import { measureWatch } from './workloads/watches.js'
import { measureApply, measureCreate, measureMergePatch, measureUpdate } from './workloads/writes.js'

type Workload = (lab: Lab) => Promise<readonly Line[]>

/** A server that keeps so much that nothing may depend on how much that is; filled once for all that need it. */
function bigCollection() {
  let filled: Promise<{ readonly big: Tested; readonly path: string; readonly count: number }> | undefined
  return (lab: Lab) => {
    filled ??= (async () => {
      const count = lab.isQuick ? 10_000 : 100_000
      say(`filling a server with ${count} objects`)
      const big = await lab.start()
      const path = await makeNamespace(big.served, 'bench-big')
      await fill(big.served, { path, count, body: bigBody })
      return { big, path, count }
    })()
    return filled
  }
}

const big = bigCollection()

/** In the order in which they run. */
const workloads: { readonly [name: string]: Workload } = {
  start: measureStart,
  idle: measureIdleMemory,
  listed: measureListedMemory,
  get: measureGet,
  list: measureList,
  selector: measureSelector,
  watch: measureWatch,
  create: measureCreate,
  update: measureUpdate,
  merge: measureMergePatch,
  apply: measureApply,
  protobuf: measureProtobuf,
  access: measureAccess,
  audit: measureAudit,
  hooks: measureHooks,
  identity: measureIdentity,
  proxy: measureProxy,
  extension: measureExtension,
  // Loaded when it is its turn: it may have to install etcd.
  lone: async (lab) => (await import('./workloads/lone-writer.js')).measureLoneWriter(lab),
  pages: async (lab) => {
    const { big: tested, path } = await big(lab)
    return measurePages(lab, tested, path)
  },
  'watch-etcd': async (lab) => (await import('./workloads/etcd.js')).measureWatchOnEtcd(lab),
  etcd: async (lab) => (await import('./workloads/etcd.js')).measureEtcd(lab),
  loops: measureLoops,
  custom: async (lab) => (await import('./workloads/custom.js')).measureCustom(lab),
  large: async (lab) => (await import('./workloads/large.js')).measureLarge(lab),
  client: async (lab) => (await import('./workloads/client.js')).measureClient(lab),
  door: async (lab) => (await import('./workloads/front-door.js')).measureFrontDoor(lab),
  memory: async (lab) => measureFullMemory(lab, await big(lab)),
}

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' }, count: { type: 'string' } },
})
const chosen = values.only?.split(',') ?? Object.keys(workloads)
const unknown = chosen.filter((name) => !(name in workloads))
if (unknown.length > 0) {
  console.error(`there is no workload ${unknown.join(', ')}; choose from ${Object.keys(workloads).join(', ')}`)
  process.exit(1)
}

/** One workload that fails does not keep the others from being measured. */
const failed = (name: string) => (error: unknown) => {
  hasFailed = true
  say(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n${lab.complaints}`)
  return [{ workload: name, floor: '', server: '', note: `failed: ${error instanceof Error ? error.message : String(error)}` }]
}

let hasFailed = false
const lab = new Lab({ isQuick: values.quick, count: values.count === undefined ? undefined : Number(values.count) })
const lines: Line[] = []
try {
  for (const [name, measure] of Object.entries(workloads)) {
    if (!chosen.includes(name)) continue
    say(`measuring ${name}`)
    lines.push(...(await measure(lab).catch(failed(name))))
  }
} finally {
  await lab.close()
}
console.log(
  `processor time of the server process per request (user and system, all threads), median of ${lab.rounds.count} rounds in turns`,
)
console.log(`node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}\n`)
console.log(renderTable(lines))
process.exitCode = lines.every(hasPassed) && !hasFailed ? 0 : 1
