// One client that creates objects sequentially, so that no commit is shared: every delay of a write shows. The floor is a bare server that
// stores the same bytes in a file, or in one etcd transaction.

import { EtcdCluster, whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'
import { requestBytes } from '../connection.js'
import { storeBehaviour } from '../floor.js'
import { fetchOnce, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const etcdBar = 1.5
const embeddedBar = 1.3

const object = (name: string): string => configMapText({ name, bytes: 1024 })

/** A single writer mostly waits for the disk; warm-up by it alone would take minutes. */
const concurrentWarmUp = { connections: 16, durationMs: 5000 }
/** Code per commit runs rarely with concurrent writers, and once per request here: it is optimized after thousands of requests. */
const sequentialWarmUp = { requests: 10_000, quickRequests: 1000, maxMs: 40_000 }

async function creator(lab: Lab, served: Served, path: string): Promise<Side> {
  const next = (prefix: string) => (connection: number, counter: number) =>
    requestBytes(served, { method: 'POST', path, body: object(`${prefix}-${connection}-${counter}`) })
  const warmUpGenerator = await lab.generator(served, concurrentWarmUp.connections)
  await warmUpGenerator.run({ durationMs: concurrentWarmUp.durationMs, next: next('warm-up'), expect: 201 })
  const generator = await lab.generator(served, 1)
  const warmUpRequests = lab.isQuick ? sequentialWarmUp.quickRequests : sequentialWarmUp.requests
  const begunMs = performance.now()
  for (let done = 0, round = 0; done < warmUpRequests && performance.now() - begunMs < sequentialWarmUp.maxMs; round++) {
    done += (await generator.run({ durationMs: 1000, next: next(`alone-${round}`), expect: 201 })).requests
  }
  return { run: (durationMs) => generator.run({ durationMs, next: next('single'), expect: 201 }) }
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

export async function measureSingleWriter(lab: Lab): Promise<readonly Line[]> {
  return [await measureEmbedded(lab), await measureOnEtcd(lab)]
}

async function measureEmbedded(lab: Lab): Promise<Line> {
  const { served } = await lab.sharedServer()
  const path = await makeNamespace(served, 'bench-single-writer')
  const floor = await lab.floor()
  await floor.behave(storeBehaviour(await fetchOnce(served, { method: 'POST', path, body: object('sample') })))
  return measure(lab, { workload: 'create, 1 KB, 1 connection', floor: floor.served, server: served, bar: embeddedBar }, path)
}

/** CPU time of etcd is included, so each side has its own etcd. */
async function measureOnEtcd(lab: Lab): Promise<Line> {
  const workload = 'create, 1 KB, 1 connection, on etcd, including etcd CPU'
  if (whyNoEtcd !== undefined) return { workload, floor: '', server: '', note: whyNoEtcd }
  const [serverEtcd, floorEtcd] = [await EtcdCluster.start({ members: 1 }), await EtcdCluster.start({ members: 1 })]
  lab.closeLater(async () => void (await Promise.all([serverEtcd.stop(), floorEtcd.stop()])))
  const { served } = await lab.start([`--etcd-servers=${serverEtcd.endpoints.join(',')}`])
  const path = await makeNamespace(served, 'bench-single-writer')
  const floor = await lab.floor()
  const sample = await fetchOnce(served, { method: 'POST', path, body: object('sample') })
  await floor.behave({ ...storeBehaviour(sample), etcd: floorEtcd.endpoints[0] ?? '' })
  const pair = {
    workload,
    floor: { ...floor.served, helpers: floorEtcd.pids },
    server: { ...served, helpers: serverEtcd.pids },
    bar: etcdBar,
  }
  return measure(lab, pair, path)
}
