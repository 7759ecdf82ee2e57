// A store with very many small objects: latency of GETs during operations over all objects, and start time.
//
// Three figures: the longest GET; the longest without time in which server or client waited for a CPU; the longest event-loop block in CPU
// time, which is the one compared with the bar. The floor is the longest GET from an idle bare server meanwhile. Steal time is printed.
//
// An operation over the bar is repeated if possible: a stall of the machine happens once, a block of the server every time.
// Priorities emulate separate machines: the prober has a high priority, readers and etcd a low one. Run with --single-threaded-gc.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { realTime } from '../../packages/api/src/base/clock.js'
import { silentLogger } from '../../packages/api/src/base/logger.js'
import { openStorage } from '../../packages/server/src/assemble/open-storage.js'
import { parseFlags } from '../../packages/server/src/options/flags/parse-flags.js'
import { readSettings } from '../../packages/server/src/options/read-settings.js'
import { EtcdCluster, whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'
import { eventLoopProbeFlags, takeLongestBlockMs } from '../../test/kit/event-loop-block.js'
import { commandPath } from '../../test/kit/paths.js'
import type { RequestParts } from '../connection.js'
import { lowerPriority } from '../cpu-wait-time.js'
import { fillStore, type Template } from '../fill-store.js'
import { Floor, headersOf } from '../floor.js'
import { fetchOnce, type Lab, makeNamespace, type Tested } from '../lab.js'
import type { Served } from '../load.js'
import { type Latencies, Prober } from '../prober.js'
import { protobufType } from '../protobuf-body.js'
import { type Line, milliseconds, printProgress } from '../report.js'
import type { DrainStart } from '../response-drain.js'
import { stolenMs } from '../stolen-time.js'

const barMs = 20
const maxTries = 3
const compactionSeconds = 5
/** Pause between two GETs from the bare server, because these GETs use CPU, too. */
const barePauseMs = 4
const probedRequest = { method: 'GET', path: '/api/v1/namespaces/default' }

const nameOf = (index: number): string => `object-${String(index).padStart(7, '0')}`
const groupOf = (index: number): string => `group-${String(index % 100).padStart(2, '0')}`
const firstObject = {
  metadata: { name: nameOf(0), labels: { app: 'shop', group: groupOf(0) } },
  data: { key: 'value '.repeat(10) },
}

interface Store {
  readonly name: string
  readonly flags: readonly string[]
}

export async function measureLargeStore(lab: Lab): Promise<readonly Line[]> {
  const lines = await measureStore(lab, { name: 'embedded', flags: [] })
  if (whyNoEtcd !== undefined) return [...lines, { workload: 'large, on etcd', floor: '', server: '', note: whyNoEtcd }]
  const cluster = await EtcdCluster.start({ members: 1 })
  lab.closeLater(() => cluster.stop())
  for (const pid of cluster.pids) lowerPriority(pid)
  return [...lines, ...(await measureStore(lab, { name: 'etcd', flags: [`--etcd-servers=${cluster.endpoints.join(',')}`] }))]
}

async function measureStore(lab: Lab, store: Store): Promise<readonly Line[]> {
  const count = lab.count ?? (lab.isQuick ? 50_000 : 1_000_000)
  const deletedCount = Math.min(100_000, count / 5)
  const filled = await makeStore(lab, store, { count, deletedCount })
  // A full list takes minutes on a busy machine.
  const flags = [...store.flags, '--etcd-compaction-interval=0', '--request-timeout=30m']
  const server = await lab.startIn(filled.dataDir, flags, eventLoopProbeFlags)
  const latency = await LatencyMeasurement.begin(lab, server, { name: store.name, count })
  await sleep(500)
  for (const { operation, parts, isOnce = false } of readsOf(filled.path, filled.since, count)) {
    await latency.measure(operation, () => readAll(server, parts), isOnce ? 1 : maxTries)
  }
  if (store.name === 'embedded') await latency.measure('a backup', () => backUp(lab, server), maxTries)
  await latency.measure(`the deletion of a namespace with ${deletedCount.toLocaleString('en')}`, async () => {
    await fetchOnce(server.served, { method: 'DELETE', path: '/api/v1/namespaces/deleted' })
    while ((await fetchOnce(server.served, { method: 'GET', path: '/api/v1/namespaces/deleted' })).status !== 404) await sleep(200)
  })
  await latency.end()
  await server.process.stop()
  const begunMs = performance.now()
  const restarted = await lab.startIn(
    filled.dataDir,
    [...store.flags, `--etcd-compaction-interval=${compactionSeconds}s`],
    eventLoopProbeFlags,
  )
  const start = { workload: `start with all objects, ${store.name}`, floor: '', server: milliseconds(performance.now() - begunMs) }
  const compactionLatency = await LatencyMeasurement.begin(lab, restarted, { name: store.name, count })
  // The first compaction runs after one interval.
  await compactionLatency.measure('a compaction', () => sleep(4 * compactionSeconds * 1000))
  await compactionLatency.end()
  await restarted.process.stop()
  return [...latency.lines, start, ...compactionLatency.lines]
}

interface Filled {
  readonly dataDir: string
  readonly path: string
  /** resourceVersion before the objects were created. */
  readonly since: string
}

async function makeStore(
  lab: Lab,
  { name, flags }: Store,
  { count, deletedCount }: { count: number; deletedCount: number },
): Promise<Filled> {
  const { process: server, served } = await lab.start(flags)
  const { dataDir } = server
  const [path, deletedPath] = [await makeNamespace(served, 'large'), await makeNamespace(served, 'deleted')]
  const templates: Template[] = []
  let since = ''
  for (const collection of [path, deletedPath]) {
    const { body } = await fetchOnce(served, { method: 'POST', path: collection, body: JSON.stringify(firstObject) })
    const { uid, resourceVersion, namespace } = (JSON.parse(body.toString()) as { readonly metadata: Record<string, string> }).metadata
    since = resourceVersion ?? ''
    const key = `configmaps/${namespace}/${nameOf(0)}`
    templates.push({ key, name: nameOf(0), uid: uid ?? '', nameOf, varying: [[groupOf(0), groupOf]] })
  }
  await server.stop()
  printProgress(`filling a store (${name}) with ${count} objects`)
  const settings = await readSettings(parseFlags([`--data-dir=${dataDir}`, ...flags]))
  const { storage } = await openStorage(settings, { logger: silentLogger, time: realTime })
  try {
    for (const [i, template] of templates.entries()) await fillStore(storage, { template, count: (i === 0 ? count : deletedCount) - 1 })
  } finally {
    await storage.close()
  }
  return { dataDir, path, since }
}

/** Latency of GETs from the server under test and from a bare server, while the server does other work. */
class LatencyMeasurement {
  readonly lines: Line[] = []
  private readonly server: Tested
  private readonly store: { readonly name: string; readonly count: number }
  private readonly prober: Prober
  private readonly bareProber: Prober

  private constructor(server: Tested, bare: Served, store: { readonly name: string; readonly count: number }) {
    this.server = server
    this.store = store
    this.prober = new Prober(server.served, probedRequest, { pid: server.served.pid, hasHighPriority: true })
    this.bareProber = new Prober(bare, probedRequest, { pid: bare.pid, hasHighPriority: true, pauseMs: barePauseMs })
  }

  static async begin(lab: Lab, server: Tested, store: { readonly name: string; readonly count: number }): Promise<LatencyMeasurement> {
    const sample = await fetchOnce(server.served, probedRequest)
    const floor = await Floor.start(server.process.dataDir, lab.folder)
    lab.closeLater(async () => floor.close())
    await floor.behave({ kind: 'bytes', status: 200, headers: headersOf(sample), body: sample.body.toString('base64') })
    return new LatencyMeasurement(server, floor.served, store)
  }

  async measure(operation: string, work: () => Promise<unknown>, maxTries = 1): Promise<void> {
    let tries = 1
    let best = await this.during(work)
    for (; tries < maxTries && best.blockMs > barMs; tries++) {
      printProgress(`  ${operation}: ${figuresOf(best)}; ${environmentOf(best)}; repeating`)
      const repeated = await this.during(work)
      if (repeated.blockMs < best.blockMs) best = repeated
    }
    const { bareMs, stealMs, p99Ms, blockMs, tookMs } = best
    const tookSeconds = (tookMs / 1000).toFixed(0)
    const load = loadavg()[0]?.toFixed(0)
    this.lines.push({
      workload: `longest GET, without CPU latencies, and event-loop block during ${operation}, ${this.store.name}`,
      floor: milliseconds(bareMs),
      server: figuresOf(best),
      ratio: blockMs / barMs,
      bar: 1,
      note: `of ${this.store.count.toLocaleString('en')}; p99 ${milliseconds(p99Ms)}; ${tookSeconds} s, load ${load}, steal time ${milliseconds(stealMs)}${tries > 1 ? `, best of ${tries}` : ''}; floor: longest GET from a bare server; ratio: block to ${barMs} ms`,
    })
    printProgress(`  ${operation}: ${figuresOf(best)}; ${environmentOf(best)}`)
  }

  end(): Promise<unknown> {
    return Promise.all([this.prober.close(), this.bareProber.close()])
  }

  private async during(work: () => Promise<unknown>) {
    await takeLongestBlockMs(this.server.process)
    const [begunMs, stolenBeforeMs] = [performance.now(), stolenMs()]
    await this.bareProber.report()
    const latencies = await this.prober.during(work)
    const { longestMs: bareMs } = await this.bareProber.report()
    const tookMs = performance.now() - begunMs
    const stealMs = stolenMs() - stolenBeforeMs
    return { ...latencies, bareMs, stealMs, tookMs, blockMs: await takeLongestBlockMs(this.server.process) }
  }
}

const figuresOf = ({ longestMs, longestWithoutCpuWaitMs, blockMs }: Latencies & { readonly blockMs: number }): string =>
  [longestMs, longestWithoutCpuWaitMs, blockMs].map(milliseconds).join(', ')

const environmentOf = ({ bareMs, stealMs }: { readonly bareMs: number; readonly stealMs: number }): string =>
  `bare server ${milliseconds(bareMs)}; steal time ${milliseconds(stealMs)}`

/** Discards the response, because all objects may not fit into memory. */
async function readAll({ served: { port, ca, token } }: Tested, parts: Omit<RequestParts, 'method'>): Promise<void> {
  const start: DrainStart = { target: { port, ca, token }, parts: { method: 'GET', ...parts } }
  await runNode([fileURLToPath(new URL('../response-drain.js', import.meta.url)), JSON.stringify(start)], { hasLowPriority: true })
}

const tableType = 'application/json;as=Table;v=v1;g=meta.cluster.io'

interface Read {
  readonly operation: string
  readonly parts: Omit<RequestParts, 'method'>
  /** True: not repeated, because only the first request scans all objects. */
  readonly isOnce?: boolean
}

const readsOf = (path: string, since: string, count: number): readonly Read[] => [
  { operation: 'the first selector list', parts: { path: `${path}?labelSelector=group%3Dgroup-07` }, isOnce: true },
  { operation: 'a selector without matches', parts: { path: `${path}?labelSelector=app!%3Dshop` } },
  { operation: 'a list in JSON', parts: { path } },
  { operation: 'a list in Protobuf', parts: { path, accept: protobufType } },
  { operation: 'a list in YAML', parts: { path, accept: 'application/yaml' } },
  { operation: 'a list as a table', parts: { path, accept: tableType } },
  { operation: 'an indented list', parts: { path: `${path}?pretty=true` } },
  { operation: 'a page of half of the objects', parts: { path: `${path}?limit=${Math.round(count / 2)}` } },
  { operation: 'a watch from history', parts: { path: `${path}?watch=true&timeoutSeconds=8&resourceVersion=${since}` } },
  { operation: 'a watch from the current state', parts: { path: `${path}?watch=true&timeoutSeconds=8` } },
]

async function backUp(lab: Lab, { process: server }: Tested): Promise<void> {
  await runNode([commandPath, 'backup', `--from=${server.dataDir}`, `--to=${join(lab.folder, `backup-${performance.now()}`)}`])
}

async function runNode(parameters: readonly string[], { hasLowPriority = false } = {}): Promise<void> {
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (hasLowPriority && child.pid !== undefined) lowerPriority(child.pid)
  const stderr: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`${parameters[0]} failed: ${Buffer.concat(stderr).toString()}`)
}
