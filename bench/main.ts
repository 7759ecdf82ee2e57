// `npm run bench`: measures each workload on the server and on its floor (least possible cost, another server, or a limit). Fails
// if a workload fails or its ratio exceeds its bar (maximum ratio).
//
//   npm run bench -- --quick              a short run
//   npm run bench -- --only get,list      some of the workloads
//   npm run bench -- --only large --count 200000   the large store with 200,000 objects

import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { fill, Lab, makeNamespace, type Tested } from './lab.js'
import { hasPassed, type Line, printProgress, renderTable } from './report.js'
import { measureAggregation } from './workloads/aggregation.js'
import { measureAudit } from './workloads/audit.js'
import { measureAuthentication } from './workloads/authentication.js'
import { measureAuthorization } from './workloads/authorization.js'
import { measureControllers } from './workloads/controllers.js'
import { measureFullMemory, measureIdleMemory, measureListedMemory } from './workloads/memory.js'
import { measureProxy } from './workloads/proxy.js'
import { bigBody, measureGet, measureList, measurePages, measureSelector } from './workloads/reads.js'
import { measureRepresentations } from './workloads/representations.js'
import { measureStart } from './workloads/start.js'
import { measureWatch } from './workloads/watches.js'
import { measureWebhooks } from './workloads/webhooks.js'
import { measureApply, measureCreate, measureMergePatch, measureUpdate } from './workloads/writes.js'

type Workload = (lab: Lab) => Promise<readonly Line[]>

/** A server with a large collection, filled once for all workloads that need it. */
function bigCollection() {
  let filled: Promise<{ readonly big: Tested; readonly path: string; readonly count: number }> | undefined
  return (lab: Lab) => {
    filled ??= (async () => {
      const count = lab.isQuick ? 10_000 : 100_000
      printProgress(`filling a server with ${count} objects`)
      const big = await lab.start()
      const path = await makeNamespace(big.served, 'bench-big')
      await fill(big.served, { path, count, body: bigBody })
      return { big, path, count }
    })()
    return filled
  }
}

const big = bigCollection()

/** Workloads by name, in the order in which they run. */
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
  representations: measureRepresentations,
  authorization: measureAuthorization,
  audit: measureAudit,
  webhooks: measureWebhooks,
  authentication: measureAuthentication,
  proxy: measureProxy,
  aggregation: measureAggregation,
  // Imported on use, because this import may install etcd.
  'single-writer': async (lab) => (await import('./workloads/single-writer.js')).measureSingleWriter(lab),
  pages: async (lab) => {
    const { big: tested, path } = await big(lab)
    return measurePages(lab, tested, path)
  },
  'watch-etcd': async (lab) => (await import('./workloads/etcd.js')).measureWatchOnEtcd(lab),
  etcd: async (lab) => (await import('./workloads/etcd.js')).measureEtcd(lab),
  controllers: measureControllers,
  'custom-resources': async (lab) => (await import('./workloads/custom-resources.js')).measureCustomResources(lab),
  large: async (lab) => (await import('./workloads/large-store.js')).measureLargeStore(lab),
  client: async (lab) => (await import('./workloads/client.js')).measureClient(lab),
  embedded: async (lab) => (await import('./workloads/embedded-start.js')).measureEmbeddedStart(lab),
  forks: async (lab) => (await import('./workloads/forks.js')).measureForks(lab),
  'simulated-cluster': async (lab) => (await import('./workloads/simulated-cluster.js')).measureSimulatedCluster(lab),
  memory: async (lab) => measureFullMemory(lab, await big(lab)),
}

/** Earlier names of workloads, which `--only` still accepts. */
const earlierNames: { readonly [name: string]: string } = {
  hooks: 'webhooks',
  loops: 'controllers',
  access: 'authorization',
  identity: 'authentication',
  extension: 'aggregation',
  lone: 'single-writer',
  door: 'embedded',
  protobuf: 'representations',
  custom: 'custom-resources',
}

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' }, count: { type: 'string' } },
})
const chosen = values.only?.split(',').map((name) => earlierNames[name] ?? name) ?? Object.keys(workloads)
const unknown = chosen.filter((name) => !(name in workloads))
if (unknown.length > 0) {
  console.error(`unknown workload ${unknown.join(', ')}; choose from ${Object.keys(workloads).join(', ')}`)
  process.exit(1)
}

/** Line for a workload that threw an error: the remaining workloads still run. */
const failedLine = (name: string) => (error: unknown) => {
  hasFailed = true
  printProgress(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n${lab.serverOutput}`)
  return [{ workload: name, floor: '', server: '', note: `failed: ${errorMessage(error)}` }]
}

let hasFailed = false
const lab = new Lab({ isQuick: values.quick, count: values.count === undefined ? undefined : Number(values.count) })
const lines: Line[] = []
try {
  for (const [name, measure] of Object.entries(workloads)) {
    if (!chosen.includes(name)) continue
    printProgress(`measuring ${name}`)
    lines.push(...(await measure(lab).catch(failedLine(name))))
  }
} finally {
  await lab.close()
}
console.log(`CPU time of the server process per request (user and system, all threads), median of ${lab.rounds.count} alternating rounds`)
console.log(`node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown CPU'}\n`)
console.log(renderTable(lines))
process.exitCode = lines.every(hasPassed) && !hasFailed ? 0 : 1
