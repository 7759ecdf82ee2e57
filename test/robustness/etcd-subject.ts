// System under test: replicas on a real etcd, each behind its own proxy to every member, so that a replica can be isolated.

import { rmSync } from 'node:fs'
import { EtcdCluster, whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'
import { TcpProxy } from '../../packages/server/test/etcd/tcp-proxy.js'
import { newFolder } from '../kit/server-process.js'
import { Replica } from './replica.js'
import { addressFlag } from './service-addresses.js'
import { type Fault, pause, processFaults, type Subject } from './subject.js'

interface EtcdSubjectOptions {
  readonly replicas: number
  readonly members: number
  readonly compactsHistory: boolean
}

export async function startEtcdSubject({ replicas: count, members, compactsHistory }: EtcdSubjectOptions): Promise<Subject> {
  if (whyNoEtcd !== undefined) throw new Error(whyNoEtcd)
  const cluster = await EtcdCluster.start({ members })
  const networks = await Promise.all(
    Array.from({ length: count }, () => Promise.all(cluster.endpoints.map((endpoint) => TcpProxy.start(endpoint)))),
  )
  const replicas = networks.map((proxies, i) => {
    const servers = proxies.map(({ url }) => url).join(',')
    const flags = [
      addressFlag,
      '--storage-backend=etcd',
      `--etcd-servers=${servers}`,
      `--etcd-compaction-interval=${compactsHistory ? '2s' : '1h'}`,
    ]
    return new Replica({ name: `r${i}`, dataDir: newFolder(), flags })
  })
  await Promise.all(replicas.map((replica) => replica.start()))
  const folders = replicas.map(({ server }) => server?.dataDir)
  return {
    name: `etcd, ${count} replicas, ${members} members`,
    replicas,
    faults: [processFaults(replicas), [...memberFaults(cluster, members), ...networkFaults(networks)]],
    // Always: a replica that rebuilds its local copy of the data has no earlier history, so 410 is allowed.
    compactsHistory: true,
    skippedFaults: [],
    heal: async () => {
      for (const proxy of networks.flat()) {
        proxy.delay(0)
        proxy.heal()
      }
      await cluster.ready()
    },
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.close()))
      await Promise.all(networks.flat().map((proxy) => proxy.close()))
      await cluster.stop()
      for (const folder of folders) if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function memberFaults(cluster: EtcdCluster, members: number): readonly Fault[] {
  const down = async (victims: readonly number[], ms: number): Promise<void> => {
    await Promise.all(victims.map((victim) => cluster.kill(victim)))
    await pause(ms)
    for (const victim of victims) cluster.startMember(victim)
    await cluster.ready()
  }
  const all = Array.from({ length: members }, (_, index) => index)
  return [
    {
      name: 'kill -9 of the etcd leader',
      inject: async (random) => down([await cluster.leader()], random.below(1500)),
    },
    {
      name: 'kill -9 of an etcd member',
      inject: (random) => down([random.below(members)], random.below(2500)),
    },
    {
      name: 'SIGSTOP of an etcd member',
      inject: async (random) => {
        const victim = random.below(members)
        cluster.signal(victim, 'SIGSTOP')
        await pause(random.below(5000))
        cluster.signal(victim, 'SIGCONT')
      },
    },
    {
      name: 'loss of the etcd quorum',
      // Sometimes longer than the timeout of a write.
      inject: (random) => down(all.slice(0, Math.floor(members / 2) + 1), random.below(4) === 0 ? 11_500 : 500 + random.below(3500)),
    },
  ]
}

function networkFaults(networks: readonly (readonly TcpProxy[])[]): readonly Fault[] {
  return [
    {
      name: 'reset of connections to etcd',
      inject: async (random) => {
        for (const proxy of random.pick(networks)) proxy.cut()
      },
    },
    {
      name: 'network partition of a replica',
      inject: async (random) => {
        const proxies = random.pick(networks)
        for (const proxy of proxies) proxy.dropAll()
        await pause(200 + random.below(5000))
        for (const proxy of proxies) proxy.heal()
      },
    },
    {
      name: 'slow network to etcd',
      inject: async (random) => {
        const proxies = random.pick(networks)
        for (const proxy of proxies) proxy.delay(5 + random.below(150))
        await pause(500 + random.below(2500))
        for (const proxy of proxies) proxy.delay(0)
      },
    },
  ]
}
