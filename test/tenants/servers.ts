// The servers of a run: one process with a store of its own, two that share an etcd, or one inside of this process.

import { rmSync } from 'node:fs'
import { startServer } from 'cluster-apiserver'
import type { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { newFolder, type ServerProcess } from '../kit/server-process.js'
import { Replica } from '../robustness/replica.js'
import type { Endpoint } from './connection.js'

export type Engine = 'lmdb' | 'memory' | 'etcd'

export interface Servers {
  readonly engine: Engine
  /** Running servers. */
  readonly endpoints: () => readonly Endpoint[]
  /** A client of an administrator for each server. All of them must be up. */
  readonly admins: () => readonly ApiClient[]
  /** Processes that faults can happen to. */
  readonly replicas: readonly Replica[]
  readonly close: () => Promise<void>
}

export interface StartOptions {
  readonly flags: readonly string[]
  /** CPU to which the server processes are pinned. */
  readonly processor?: number | undefined
}

export async function startServers(engine: Engine, options: StartOptions): Promise<Servers> {
  if (engine === 'etcd') return startOnEtcd(options)
  const dataDir = newFolder()
  const flags = [...options.flags, ...(engine === 'memory' ? ['--storage-backend=memory'] : [])]
  const replica = new Replica({ name: engine, dataDir, flags, processor: options.processor })
  await replica.start()
  return processesOf(engine, [replica], async () => rmSync(dataDir, { recursive: true, force: true }))
}

async function startOnEtcd({ flags, processor }: StartOptions): Promise<Servers> {
  // Not imported above, because it may install etcd.
  const { EtcdCluster, whyNoEtcd } = await import('../etcd/etcd-cluster.js')
  if (whyNoEtcd !== undefined) throw new Error(whyNoEtcd)
  const cluster = await EtcdCluster.start({ members: 1 })
  const etcdFlags = ['--storage-backend=etcd', `--etcd-servers=${cluster.endpoints.join(',')}`]
  const folders = [newFolder(), newFolder()]
  const replicas = folders.map((dataDir, i) => new Replica({ name: `replica ${i}`, dataDir, flags: [...flags, ...etcdFlags], processor }))
  await Promise.all(replicas.map((replica) => replica.start()))
  return processesOf('etcd', replicas, async () => {
    await cluster.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
}

function processesOf(engine: Engine, replicas: readonly Replica[], tidyUp: () => Promise<void>): Servers {
  const endpoints = new WeakMap<ServerProcess, Endpoint>()
  const endpointOf = (server: ServerProcess): Endpoint => {
    const known = endpoints.get(server) ?? server.access
    endpoints.set(server, known)
    return known
  }
  return {
    engine,
    replicas,
    endpoints: () => replicas.flatMap(({ server }) => (server === undefined ? [] : endpointOf(server))),
    admins: () => replicas.flatMap(({ client }) => client ?? []),
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.close()))
      await tidyUp()
    },
  }
}

/** Inside of this process. */
export async function startEmbeddedServer({ flags }: StartOptions): Promise<Servers> {
  const dataDir = newFolder()
  const server = await startServer({ flags, dataDir })
  const client = clientOf(server)
  return {
    engine: 'lmdb',
    replicas: [],
    endpoints: () => [{ url: server.url, ca: server.caPem }],
    admins: () => [client],
    close: async () => {
      client.close()
      await server.close({ immediately: true })
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
