// The same requests on etcd and on the embedded store: CPU time of the server. Also the mirror lag: delay until a second replica
// on etcd has a write.

import { EtcdCluster, whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'
import { measureMirrorLag } from '../../packages/server/test/etcd/mirror-lag.js'
import { type RequestParts, requestBytes } from '../connection.js'
import { openEtcd } from '../floor-etcd.js'
import { fill, type Lab, makeNamespace, type Tested } from '../lab.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'
import { jsonFrameEnd } from '../watchers.js'
import { warmWrites, watchPathOf, watchSide } from './watches.js'

const connections = 16
/** Bars are maximum ratios. A GET on etcd waits for the read index (linearizable read), so its bar is higher than that of a list. */
const getBar = 1.4
const readBar = 1.1
const writeBar = 1.5
const watchBar = 1.15

interface Pair {
  readonly embedded: Tested
  readonly onEtcd: Tested
}

interface Work {
  readonly name: string
  readonly bar: number | undefined
  readonly expect: number
  readonly next: (path: string) => (connection: number, counter: number) => RequestParts
}

const object = (name: string, counter = 0): string => configMapText({ name, bytes: 1024, variant: `mark ${counter} ` })
const nameOf = (index: number): string => `object-${String(index).padStart(6, '0')}`

const reads: readonly Work[] = [
  {
    name: 'get, 1 KB, etcd / embedded',
    bar: getBar,
    expect: 200,
    next: (path) => (connection) => ({ method: 'GET', path: `${path}/${nameOf(connection)}` }),
  },
  { name: 'list of 500, etcd / embedded', bar: readBar, expect: 200, next: (path) => () => ({ method: 'GET', path }) },
]

const writes: readonly Work[] = [
  {
    name: 'create, 1 KB, etcd / embedded',
    bar: writeBar,
    expect: 201,
    next: (path) => (connection, counter) => ({ method: 'POST', path, body: object(`c-${connection}-${counter}`) }),
  },
  {
    name: 'update, 1 KB, etcd / embedded',
    bar: writeBar,
    expect: 200,
    next: (path) => (connection, counter) => ({
      method: 'PUT',
      path: `${path}/${nameOf(connection)}`,
      body: object(nameOf(connection), counter),
    }),
  },
]

export async function measureEtcd(lab: Lab): Promise<readonly Line[]> {
  if (whyNoEtcd !== undefined) return [{ workload: 'etcd', floor: '', server: '', note: whyNoEtcd }]
  const cluster = await EtcdCluster.start({ members: 1 })
  lab.closeLater(() => cluster.stop())
  const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`]
  const pair = { embedded: await lab.start(), onEtcd: await lab.start(flags) }
  const lines: Line[] = []
  for (const work of reads) lines.push(await measure(lab, pair, work))
  lines.push(
    await measure(
      lab,
      {
        ...pair,
        embedded: await lab.start(['--read-cache-bytes=0']),
        onEtcd: await lab.start([...flags, '--etcd-prefix=/uncached', '--read-cache-bytes=0']),
      },
      { ...(reads[1] as Work), name: 'list of 500 from the store, etcd / embedded' },
    ),
  )
  for (const work of writes) lines.push(await measure(lab, pair, work))
  lines.push(await measureLag(lab, cluster.endpoints))
  return lines
}

/**
 * 200 watchers of one writer. etcd shares two CPUs and their caches with the server here, which costs the server up to 10 %.
 * So both sides run next to a busy etcd.
 */
export async function measureWatchOnEtcd(lab: Lab): Promise<readonly Line[]> {
  const workload = '200 watchers, per event, etcd / embedded'
  if (whyNoEtcd !== undefined) return [{ workload, floor: '', server: '', note: whyNoEtcd }]
  const cluster = await EtcdCluster.start({ members: 1 })
  lab.closeLater(() => cluster.stop())
  const prepare = async ({ served }: Tested) => {
    const path = await makeNamespace(served, 'bench-etcd-watch')
    await fill(served, { path, count: 1, body: () => object('watched', -1) })
    const change = (counter: number): Buffer =>
      requestBytes(served, { method: 'PUT', path: `${path}/watched`, body: object('watched', counter) })
    await warmWrites(lab, served, change)
    return { served, path, change }
  }
  const embedded = await prepare(await lab.start())
  const onEtcd = await prepare(await lab.start([`--etcd-servers=${cluster.endpoints.join(',')}`]))
  const busy = await EtcdCluster.start({ members: 1 })
  const bare = openEtcd(busy.endpoints[0] ?? '')
  lab.closeLater(async () => {
    bare.close()
    await busy.stop()
  })
  const alongside = (counter: number): Promise<unknown> => bare.put(`alongside-${counter}`, Buffer.from(object('watched', counter)))
  const open = async ({ served, path, change }: typeof embedded, more: { readonly alongside?: typeof alongside }) =>
    watchSide({ served, stream: { path: await watchPathOf(served, path), pattern: jsonFrameEnd }, change, ...more })
  // Concurrently: idle connections would be closed.
  const sides = await Promise.all([open(embedded, { alongside }), open(onEtcd, {})])
  const { floor, server, ratio, perSecond } = await compare(...sides, lab.rounds)
  for (const side of sides) side.close()
  const note = `${perSecond.toFixed(0)} events/s`
  return [{ workload, floor: microseconds(floor), server: microseconds(server), ratio, bar: watchBar, note }]
}

let collections = 0

async function measure(lab: Lab, { embedded, onEtcd }: Pair, work: Work): Promise<Line> {
  collections += 1
  const sideOf = async ({ served }: Tested): Promise<Side> => {
    const path = await makeNamespace(served, `bench-etcd-${collections}`)
    await fill(served, { path, count: 500, body: (i) => object(nameOf(i)) })
    const generator = await lab.generator(served, connections)
    const parts = work.next(path)
    const next = (connection: number, counter: number): Buffer => requestBytes(served, parts(connection, counter))
    return { run: (durationMs) => generator.run({ durationMs, next, expect: work.expect }) }
  }
  const [floor, server] = [await sideOf(embedded), await sideOf(onEtcd)]
  const comparison = await compare(floor, server, lab.rounds)
  return {
    workload: work.name,
    floor: microseconds(comparison.floor),
    server: microseconds(comparison.server),
    ratio: comparison.ratio,
    ...(work.bar === undefined ? {} : { bar: work.bar }),
    note: `${comparison.perSecond.toFixed(0)}/s`,
  }
}

async function measureLag(lab: Lab, endpoints: readonly string[]): Promise<Line> {
  const { medianMs, p99Ms, maxMs } = await measureMirrorLag({ endpoints, writes: lab.isQuick ? 500 : 5000, writers: 8 })
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  return { workload: 'mirror lag, p99', floor: '', server: ms(p99Ms), note: `median ${ms(medianMs)}, most ${ms(maxMs)}` }
}
