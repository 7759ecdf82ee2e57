// Replicas on a real etcd, each behind its own network to every member, so that each can be cut off alone.

import { rmSync } from 'node:fs'
import { EtcdCluster, whyNoEtcd } from '../etcd/etcd-cluster.js'
import { TcpProxy } from '../etcd/tcp-proxy.js'
import { newFolder } from '../kit/server-process.js'
import { addressFlag } from './addresses.js'
import { Replica } from './replica.js'
import { type Fault, pause, processFaults, type Subject } from './subject.js'

export interface EtcdSubjectOptions {
  readonly replicas: number
  readonly members: number
  readonly forgets: boolean
}

export async function startEtcdSubject({ replicas: count, members, forgets }: EtcdSubjectOptions): Promise<Subject> {
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
      `--etcd-compaction-interval=${forgets ? '2s' : '1h'}`,
    ]
    return new Replica({ name: `r${i}`, dataDir: newFolder(), flags })
  })
  await Promise.all(replicas.map((replica) => replica.start()))
  const folders = replicas.map(({ server }) => server?.dataDir)
  return {
    name: `etcd, ${count} replicas, ${members} members`,
    replicas,
    faults: [processFaults(replicas), [...memberFaults(cluster, members), ...networkFaults(networks)]],
    // A replica that makes its mirror anew has no history before that.
    forgets: true,
    leftOut: [],
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
      name: 'leader of etcd killed',
      happen: async (random) => down([await cluster.leader()], random.below(1500)),
    },
    {
      name: 'member of etcd killed',
      happen: (random) => down([random.below(members)], random.below(2500)),
    },
    {
      name: 'SIGSTOP of a member of etcd',
      happen: async (random) => {
        const victim = random.below(members)
        cluster.signal(victim, 'SIGSTOP')
        await pause(random.below(5000))
        cluster.signal(victim, 'SIGCONT')
      },
    },
    {
      name: 'quorum of etcd lost',
      // Sometimes for longer than a write waits before it fails.
      happen: (random) => down(all.slice(0, Math.floor(members / 2) + 1), random.below(4) === 0 ? 11_500 : 500 + random.below(3500)),
    },
  ]
}

function networkFaults(networks: readonly (readonly TcpProxy[])[]): readonly Fault[] {
  return [
    {
      name: 'connections to etcd cut',
      happen: async (random) => {
        for (const proxy of random.pick(networks)) proxy.cut()
      },
    },
    {
      name: 'a replica cut off',
      happen: async (random) => {
        const proxies = random.pick(networks)
        for (const proxy of proxies) proxy.swallow()
        await pause(200 + random.below(5000))
        for (const proxy of proxies) proxy.heal()
      },
    },
    {
      name: 'slow network to etcd',
      happen: async (random) => {
        const proxies = random.pick(networks)
        for (const proxy of proxies) proxy.delay(5 + random.below(150))
        await pause(500 + random.below(2500))
        for (const proxy of proxies) proxy.delay(0)
      },
    },
  ]
}
