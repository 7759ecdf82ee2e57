// The lone writer: one client that creates one object after the other. Nobody shares the cost of a commit with it, so every wait and every
// call on the way of a write shows here. Beside it a bare server that stores the same bytes, in its file or by one transaction of etcd.

import { EtcdCluster, whyNoEtcd } from '../../test/etcd/etcd-cluster.js'
import { requestBytes } from '../connection.js'
import { storing } from '../floor.js'
import { fetchOnce, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const etcdBar = 1.5
const embeddedBar = 1.6

const object = (name: string): string => configMapText({ name, bytes: 1024 })

/** A lone writer waits for the disk most of the time: it would take minutes until the code that serves it is compiled. */
const company = { connections: 16, durationMs: 5000 }
/**
 * What is done once for each commit is done rarely in company, and once for each request here: it is compiled only after some thousands of these.
 * The server does more of that than its floor.
 */
const alone = { requests: 10_000, quickRequests: 1000, mostMs: 40_000 }

async function creator(lab: Lab, served: Served, path: string): Promise<Side> {
  const next = (mark: string) => (connection: number, counter: number) =>
    requestBytes(served, { method: 'POST', path, body: object(`${mark}-${connection}-${counter}`) })
  const many = await lab.generator(served, company.connections)
  await many.run({ durationMs: company.durationMs, next: next('warm-up'), expect: 201 })
  const lone = await lab.generator(served, 1)
  const enough = lab.isQuick ? alone.quickRequests : alone.requests
  const begunMs = performance.now()
  for (let done = 0, round = 0; done < enough && performance.now() - begunMs < alone.mostMs; round++) {
    done += (await lone.run({ durationMs: 1000, next: next(`alone-${round}`), expect: 201 })).requests
  }
  return { run: (durationMs) => lone.run({ durationMs, next: next('lone'), expect: 201 }) }
}

interface Pair {
  readonly workload: string
  readonly floor: Served
  readonly server: Served
  readonly bar: number
}

async function measure(lab: Lab, { workload, floor, server, bar }: Pair, path: string): Promise<Line> {
  const sides = [await creator(lab, floor, path), await creator(lab, server, path)] as const
  const cost = await compare(...sides, lab.rounds)
  const note = `${cost.perSecond.toFixed(0)}/s`
  return { workload, floor: microseconds(cost.floor), server: microseconds(cost.server), ratio: cost.ratio, bar, note }
}

export async function measureLoneWriter(lab: Lab): Promise<readonly Line[]> {
  return [await measureEmbedded(lab), await measureOnEtcd(lab)]
}

async function measureEmbedded(lab: Lab): Promise<Line> {
  const { served } = await lab.usual()
  const path = await makeNamespace(served, 'bench-lone-writer')
  const floor = await lab.floor()
  await floor.behave(storing(await fetchOnce(served, { method: 'POST', path, body: object('sample') })))
  return measure(lab, { workload: 'create, 1 KB, 1 connection', floor: floor.served, server: served, bar: embeddedBar }, path)
}

/** What etcd spends is counted as well, so each side has an etcd of its own. */
async function measureOnEtcd(lab: Lab): Promise<Line> {
  const workload = 'create, 1 KB, 1 connection, on etcd, with what etcd spends'
  if (whyNoEtcd !== undefined) return { workload, floor: '', server: '', note: whyNoEtcd }
  const [own, bare] = [await EtcdCluster.start({ members: 1 }), await EtcdCluster.start({ members: 1 })]
  lab.closeLater(async () => void (await Promise.all([own.stop(), bare.stop()])))
  const { served } = await lab.start([`--etcd-servers=${own.endpoints.join(',')}`])
  const path = await makeNamespace(served, 'bench-lone-writer')
  const floor = await lab.floor()
  const sample = await fetchOnce(served, { method: 'POST', path, body: object('sample') })
  await floor.behave({ ...storing(sample), etcd: bare.endpoints[0] ?? '' })
  const pair = { workload, floor: { ...floor.served, helpers: bare.pids }, server: { ...served, helpers: own.pids }, bar: etcdBar }
  return measure(lab, pair, path)
}
