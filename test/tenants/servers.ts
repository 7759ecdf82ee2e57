// Starts the API servers of a tenant test: one process with LMDB or memory, two that share an etcd, or one embedded in this process.

import { rmSync } from 'node:fs'
import { startServer } from 'cluster-apiserver'
import type { ApiClient } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { newFolder, type ServerProcess } from '../kit/server-process.js'
import { Replica } from '../robustness/replica.js'
import type { Endpoint } from './connection.js'

/** `workers`: worker processes on the embedded store. */
export type Engine = 'lmdb' | 'workers' | 'memory' | 'etcd'

export interface Servers {
  readonly engine: Engine
  readonly endpoints: () => readonly Endpoint[]
  /** Administrator clients of the servers that are up. */
  readonly admins: () => readonly ApiClient[]
  readonly replicas: readonly Replica[]
  readonly close: () => Promise<void>
}

interface StartOptions {
  readonly flags: readonly string[]
  readonly processor?: number | undefined
  /** Worker processes of the engine `workers`. */
  readonly workers?: number
}

export async function startServers(engine: Engine, options: StartOptions): Promise<Servers> {
  if (engine === 'etcd') return startOnEtcd(options)
  const dataDir = newFolder()
  const engineFlags = { lmdb: [], workers: [`--workers=${options.workers ?? 2}`], memory: ['--storage-backend=memory'] }
  const flags = [...options.flags, ...engineFlags[engine]]
  const replica = new Replica({ name: engine, dataDir, flags, processor: options.processor })
  await replica.start()
  return processesOf(engine, [replica], async () => rmSync(dataDir, { recursive: true, force: true }))
}

async function startOnEtcd({ flags, processor }: StartOptions): Promise<Servers> {
  // Not imported above, because the module may install etcd.
  const { EtcdCluster, whyNoEtcd } = await import('../../packages/server/test/etcd/etcd-cluster.js')
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

function processesOf(engine: Engine, replicas: readonly Replica[], cleanUp: () => Promise<void>): Servers {
  const endpoints = new WeakMap<ServerProcess, Endpoint>()
  const endpointOf = (server: ServerProcess): Endpoint => {
    const endpoint = endpoints.get(server) ?? server.access
    endpoints.set(server, endpoint)
    return endpoint
  }
  return {
    engine,
    replicas,
    endpoints: () => replicas.flatMap(({ server }) => (server === undefined ? [] : endpointOf(server))),
    admins: () => replicas.flatMap(({ client }) => client ?? []),
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.close()))
      await cleanUp()
    },
  }
}

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
