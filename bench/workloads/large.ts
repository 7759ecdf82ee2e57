// A store with very many small objects: how long others wait beside everything that goes through all of them, and how long a start takes.
//
// Three figures for each: the longest wait of a get; the longest wait less the time in which the server's event loop or the client stood ready and had
// no processor; and the longest turn of the event loop in processor time. On a machine that others use as well only the last says something of the
// server alone, and it is the one that is judged. The floor is the longest wait of a get from a bare server in the same time, which has nothing else to
// do: whatever it waits for is the machine. What can be done again is done again when it misses the bar: a stall of the machine comes once, and what
// holds the server comes every time. How much of the processors the host of a virtual machine took meanwhile is printed as well.
//
// Who waits, who reads the long answer and etcd would be on machines of their own: the first is run before all others here, the others behind. For the
// same reason the benchmark itself is run with --single-threaded-gc: the four threads of its collector would take the server's processors.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '../../src/base/logger.js'
import { openStorage } from '../../src/server/open-storage.js'
import { parseFlags } from '../../src/server/options/parse-flags.js'
import { readSettings } from '../../src/server/options/read-settings.js'
import { EtcdCluster, whyNoEtcd } from '../../test/etcd/etcd-cluster.js'
import { takeTurn, turnWatchFlags } from '../../test/kit/longest-turn.js'
import { commandPath } from '../../test/kit/paths.js'
import type { RequestParts } from '../connection.js'
import { fillStore, type Template } from '../fill-store.js'
import { Floor, headersOf } from '../floor.js'
import { fetchOnce, type Lab, makeNamespace, type Tested } from '../lab.js'
import type { Served } from '../load.js'
import { Prober, type Waits } from '../prober.js'
import { protobufType } from '../protobuf-body.js'
import type { Reading } from '../reader.js'
import { putLast } from '../ready-time.js'
import { type Line, milliseconds, say } from '../report.js'
import { stolenMs } from '../stolen-time.js'

const barMs = 20
const mostTries = 3
const compactionSeconds = 5
/** Between two gets from the bare server: those take processors, too. */
const barePauseMs = 4
const probed = { method: 'GET', path: '/api/v1/namespaces/default' }

const nameOf = (index: number): string => `object-${String(index).padStart(7, '0')}`
const groupOf = (index: number): string => `group-${String(index % 100).padStart(2, '0')}`
const first = {
  metadata: { name: nameOf(0), labels: { app: 'shop', group: groupOf(0) } },
  data: { key: 'value '.repeat(10) },
}

interface Store {
  readonly name: string
  readonly flags: readonly string[]
}

export async function measureLarge(lab: Lab): Promise<readonly Line[]> {
  const lines = await measureStore(lab, { name: 'embedded', flags: [] })
  if (whyNoEtcd !== undefined) return [...lines, { workload: 'large, on etcd', floor: '', server: '', note: whyNoEtcd }]
  const cluster = await EtcdCluster.start({ members: 1 })
  lab.closeLater(() => cluster.stop())
  for (const pid of cluster.pids) putLast(pid)
  return [...lines, ...(await measureStore(lab, { name: 'etcd', flags: [`--etcd-servers=${cluster.endpoints.join(',')}`] }))]
}

async function measureStore(lab: Lab, store: Store): Promise<readonly Line[]> {
  const count = lab.count ?? (lab.isQuick ? 50_000 : 1_000_000)
  const doomed = Math.min(100_000, count / 5)
  const filled = await makeStore(lab, store, { count, doomed })
  // A list of all of them takes minutes on a busy machine, and is to be read to its end.
  const flags = [...store.flags, '--etcd-compaction-interval=0', '--request-timeout=30m']
  const server = await lab.startIn(filled.dataDir, flags, turnWatchFlags)
  const beside = await Beside.begin(lab, server, { name: store.name, count })
  await sleep(500)
  for (const { what, parts, isOnce = false } of readsOf(filled.path, filled.since, count)) {
    await beside.measure(what, () => readAll(server, parts), isOnce ? 1 : mostTries)
  }
  if (store.name === 'embedded') await beside.measure('a backup', () => backUp(lab, server), mostTries)
  await beside.measure(`the deletion of a namespace with ${doomed.toLocaleString('en')}`, async () => {
    await fetchOnce(server.served, { method: 'DELETE', path: '/api/v1/namespaces/doomed' })
    while ((await fetchOnce(server.served, { method: 'GET', path: '/api/v1/namespaces/doomed' })).status !== 404) await sleep(200)
  })
  await beside.end()
  await server.process.stop()
  const begunMs = performance.now()
  const again = await lab.startIn(filled.dataDir, [...store.flags, `--etcd-compaction-interval=${compactionSeconds}s`], turnWatchFlags)
  const start = { workload: `start with all of them, ${store.name}`, floor: '', server: milliseconds(performance.now() - begunMs) }
  const later = await Beside.begin(lab, again, { name: store.name, count })
  // The first compaction comes after one interval; it forgets how everything was made.
  await later.measure('a compaction', () => sleep(4 * compactionSeconds * 1000))
  await later.end()
  await again.process.stop()
  return [...beside.lines, start, ...later.lines]
}

interface Filled {
  readonly dataDir: string
  readonly path: string
  /** The version before all of them were there. */
  readonly since: string
}

async function makeStore(lab: Lab, { name, flags }: Store, { count, doomed }: { count: number; doomed: number }): Promise<Filled> {
  const { process: server, served } = await lab.start(flags)
  const { dataDir } = server
  const [path, doomedPath] = [await makeNamespace(served, 'large'), await makeNamespace(served, 'doomed')]
  const templates: Template[] = []
  let since = ''
  for (const collection of [path, doomedPath]) {
    const { body } = await fetchOnce(served, { method: 'POST', path: collection, body: JSON.stringify(first) })
    const { uid, resourceVersion, namespace } = (JSON.parse(body.toString()) as { readonly metadata: Record<string, string> }).metadata
    since = resourceVersion ?? ''
    const key = `configmaps/${namespace}/${nameOf(0)}`
    templates.push({ key, name: nameOf(0), uid: uid ?? '', nameOf, varying: [[groupOf(0), groupOf]] })
  }
  await server.stop()
  say(`filling a store (${name}) with ${count} objects`)
  const settings = await readSettings(parseFlags([`--data-dir=${dataDir}`, ...flags]))
  const storage = await openStorage(settings, silentLogger, undefined)
  try {
    for (const [i, template] of templates.entries()) await fillStore(storage, { template, count: (i === 0 ? count : doomed) - 1 })
  } finally {
    await storage.close()
  }
  return { dataDir, path, since }
}

/** The server beside which something is done. */
class Beside {
  readonly lines: Line[] = []
  private readonly server: Tested
  private readonly what: { readonly name: string; readonly count: number }
  private readonly prober: Prober
  private readonly bareProber: Prober

  private constructor(server: Tested, bare: Served, what: { readonly name: string; readonly count: number }) {
    this.server = server
    this.what = what
    this.prober = new Prober(server.served, probed, { pid: server.served.pid, isFirst: true })
    this.bareProber = new Prober(bare, probed, { pid: bare.pid, isFirst: true, pauseMs: barePauseMs })
  }

  static async begin(lab: Lab, server: Tested, what: { readonly name: string; readonly count: number }): Promise<Beside> {
    const sample = await fetchOnce(server.served, probed)
    const floor = await Floor.start(server.process.dataDir, lab.folder)
    lab.closeLater(async () => floor.close())
    await floor.behave({ kind: 'bytes', status: 200, headers: headersOf(sample), body: sample.body.toString('base64') })
    return new Beside(server, floor.served, what)
  }

  async measure(what: string, work: () => Promise<unknown>, mostTries = 1): Promise<void> {
    let tries = 1
    let best = await this.during(work)
    for (; tries < mostTries && best.turnMs > barMs; tries++) {
      say(`  ${what}: ${figuresOf(best)}; ${surroundingsOf(best)}; once more`)
      const again = await this.during(work)
      if (again.turnMs < best.turnMs) best = again
    }
    const { bareMs, hostMs, p99Ms, turnMs, tookMs } = best
    const tookSeconds = (tookMs / 1000).toFixed(0)
    const load = loadavg()[0]?.toFixed(0)
    this.lines.push({
      workload: `longest wait, with a processor, and turn beside ${what}, ${this.what.name}`,
      floor: milliseconds(bareMs),
      server: figuresOf(best),
      ratio: turnMs / barMs,
      bar: 1,
      note: `of ${this.what.count.toLocaleString('en')}; 99 % waited ${milliseconds(p99Ms)}; ${tookSeconds} s, load ${load}, the host took ${milliseconds(hostMs)}${tries > 1 ? `, best of ${tries}` : ''}; floor: a bare server in the same time; ratio: turn to ${barMs} ms`,
    })
    say(`  ${what}: ${figuresOf(best)}; ${surroundingsOf(best)}`)
  }

  end(): Promise<unknown> {
    return Promise.all([this.prober.close(), this.bareProber.close()])
  }

  private async during(work: () => Promise<unknown>) {
    await takeTurn(this.server.process)
    const [begunMs, stolenBeforeMs] = [performance.now(), stolenMs()]
    await this.bareProber.report()
    const waits = await this.prober.during(work)
    const { longestMs: bareMs } = await this.bareProber.report()
    const tookMs = performance.now() - begunMs
    const hostMs = stolenMs() - stolenBeforeMs
    return { ...waits, bareMs, hostMs, tookMs, turnMs: await takeTurn(this.server.process) }
  }
}

const figuresOf = ({ longestMs, longestWithProcessorMs, turnMs }: Waits & { readonly turnMs: number }): string =>
  [longestMs, longestWithProcessorMs, turnMs].map(milliseconds).join(', ')

const surroundingsOf = ({ bareMs, hostMs }: { readonly bareMs: number; readonly hostMs: number }): string =>
  `a bare server ${milliseconds(bareMs)}; the host took ${milliseconds(hostMs)}`

/** Without keeping it: together the objects are larger than memory. */
async function readAll({ served: { port, ca, token } }: Tested, parts: Omit<RequestParts, 'method'>): Promise<void> {
  const reading: Reading = { target: { port, ca, token }, parts: { method: 'GET', ...parts } }
  await runNode([fileURLToPath(new URL('../reader.js', import.meta.url)), JSON.stringify(reading)], { isLast: true })
}

const tableType = 'application/json;as=Table;v=v1;g=meta.cluster.io'

interface Read {
  readonly what: string
  readonly parts: Omit<RequestParts, 'method'>
  /** Only the first one goes through everything. */
  readonly isOnce?: boolean
}

const readsOf = (path: string, since: string, count: number): readonly Read[] => [
  { what: 'the first selector list', parts: { path: `${path}?labelSelector=group%3Dgroup-07` }, isOnce: true },
  { what: 'a selector that picks nothing', parts: { path: `${path}?labelSelector=app!%3Dshop` } },
  { what: 'a list in JSON', parts: { path } },
  { what: 'a list in Protobuf', parts: { path, accept: protobufType } },
  { what: 'a list in YAML', parts: { path, accept: 'application/yaml' } },
  { what: 'a list as a table', parts: { path, accept: tableType } },
  { what: 'an indented list', parts: { path: `${path}?pretty=true` } },
  { what: 'a page of half of them', parts: { path: `${path}?limit=${Math.round(count / 2)}` } },
  { what: 'a watch from history', parts: { path: `${path}?watch=true&timeoutSeconds=8&resourceVersion=${since}` } },
  { what: 'a watch from what is there', parts: { path: `${path}?watch=true&timeoutSeconds=8` } },
]

async function backUp(lab: Lab, { process: server }: Tested): Promise<void> {
  await runNode([commandPath, 'backup', `--from=${server.dataDir}`, `--to=${join(lab.folder, `backup-${performance.now()}`)}`])
}

async function runNode(parameters: readonly string[], { isLast = false } = {}): Promise<void> {
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (isLast && child.pid !== undefined) putLast(child.pid)
  const said: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`${parameters[0]} failed: ${Buffer.concat(said).toString()}`)
}
