// Embedded server inside the test process, with a client.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { type RunningServer, startServer } from 'cluster-apiserver'
import { ApiClient } from './api-client.js'
import { isWorkersRun, newFolder, ServerProcess } from './server-process.js'

/** `workers`: a process with two worker processes on the embedded store. */
type EngineName = 'memory' | 'lmdb' | 'etcd' | 'workers'

/** `TEST_ENGINES=memory,etcd,workers` selects the engines; default: lmdb. */
const engines = (process.env['TEST_ENGINES']?.split(',') ?? ['lmdb']) as readonly EngineName[]
// Imported only if needed, because the module may install etcd; at load time, so that its `after` hook belongs to the whole test file.
const etcd = engines.includes('etcd') ? await import('../../packages/server/test/etcd/etcd-cluster.js') : undefined

export interface Embedded {
  readonly server: RunningServer
  readonly client: ApiClient
  close(): Promise<void>
}

/** Flags that enable every tested kind, alpha versions included. */
export const everyKind = ['--feature-gates=DynamicResourceAllocation=true', '--runtime-config=api/alpha=true']

async function startWithWorkers(flags: readonly string[], folder: string | undefined): Promise<Embedded> {
  const process = await ServerProcess.start({
    flags: ['--workers=2', ...flags],
    ...(folder === undefined ? {} : { dataDir: folder }),
  })
  const { access, dataDir, url, port } = process
  const clientConfigurationPath = join(dataDir, 'admin.conf')
  const clientConfiguration = readFileSync(clientConfigurationPath, 'utf8')
  // Each request has a connection of its own: consecutive requests are served by different workers.
  const client = new ApiClient(access, { keepAlive: false })
  const close = async (): Promise<void> => {
    client.close()
    await process.stop()
  }
  return {
    server: { address: '127.0.0.1', port, url, caPem: access.ca, clientConfiguration, clientConfigurationPath, close },
    client,
    close,
  }
}

/** `folder`: data folder of an earlier server, which stays; default: a new one, which is removed. */
export async function startEmbedded(engine: EngineName, flags: readonly string[] = [], folder?: string): Promise<Embedded> {
  if (engine === 'workers' || (engine !== 'etcd' && isWorkersRun())) return startWithWorkers(flags, folder)
  const dataDir = engine === 'lmdb' ? (folder ?? newFolder()) : undefined
  const cluster = engine === 'etcd' ? await etcd?.EtcdCluster.start({ members: 1 }) : undefined
  const server = await startServer({
    flags,
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(cluster === undefined ? {} : { etcd: { servers: cluster.endpoints } }),
  })
  const client = clientOf(server)
  return {
    server,
    client,
    close: async () => {
      client.close()
      await server.close({ immediately: true })
      await cluster?.stop()
      if (dataDir !== undefined && folder === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export const tokenOf = (server: RunningServer): string => /token: "([^"]+)"/.exec(server.clientConfiguration)?.[1] ?? ''

export const clientOf = (server: RunningServer): ApiClient => new ApiClient({ url: server.url, ca: server.caPem, token: tokenOf(server) })

/** `client()` can only be called inside tests. */
type Suite = (client: () => ApiClient) => void

function suiteOn(engine: EngineName, title: string, suite: Suite, flags: readonly string[]): void {
  describe(`${title}, on ${engine}`, { concurrency: 8 }, () => {
    let embedded: Embedded
    before(async () => {
      embedded = await startEmbedded(engine, flags)
    })
    after(() => embedded.close())
    suite(() => embedded.client)
  })
}

/** Runs a suite on every engine of TEST_ENGINES. */
export function onEveryEngine(title: string, suite: Suite, flags: readonly string[] = everyKind): void {
  for (const engine of engines) suiteOn(engine, title, suite, flags)
}

/** Runs a suite that does not depend on the engine, only on the last one of TEST_ENGINES. */
export function onDefaultEngine(title: string, suite: Suite, flags: readonly string[] = everyKind): void {
  suiteOn(engines.at(-1) ?? 'lmdb', title, suite, flags)
}
