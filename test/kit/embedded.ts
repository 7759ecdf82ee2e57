// A server inside the test's own process, as a program that embeds one would start it, with a client for it.

import { rmSync } from 'node:fs'
import { after, before, describe } from 'node:test'
import { type RunningServer, startServer } from 'cluster-apiserver'
import { ApiClient } from './api-client.js'
import { newFolder } from './server-process.js'

export type EngineName = 'memory' | 'lmdb' | 'etcd'

/** `TEST_ENGINES=etcd` runs on etcd what usually runs on the others. */
const engines = (process.env['TEST_ENGINES']?.split(',') ?? ['memory', 'lmdb']) as readonly EngineName[]
// Only where it is wanted, because it may install etcd; and not later, because it ends what it started with the file that loaded it.
const etcd = engines.includes('etcd') ? await import('../etcd/etcd-cluster.js') : undefined

export interface Embedded {
  readonly server: RunningServer
  readonly client: ApiClient
  close(): Promise<void>
}

/** The flags that serve every kind that these tests speak of, alpha ones included. */
export const everyKind = ['--feature-gates=DynamicResourceAllocation=true', '--runtime-config=api/alpha=true']

export async function startEmbedded(engine: EngineName, flags: readonly string[] = []): Promise<Embedded> {
  const dataDir = engine === 'lmdb' ? newFolder() : undefined
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
      if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export const tokenOf = (server: RunningServer): string => /token: "([^"]+)"/.exec(server.clientConfiguration)?.[1] ?? ''

export const clientOf = (server: RunningServer): ApiClient => new ApiClient({ url: server.url, ca: server.caPem, token: tokenOf(server) })

/** `client()` is for use inside tests only. */
type Suite = (client: () => ApiClient) => void

function suiteOn(engine: EngineName, title: string, suite: Suite, flags: readonly string[]): void {
  describe(`${title}, kept in ${engine}`, { concurrency: 8 }, () => {
    let embedded: Embedded
    before(async () => {
      embedded = await startEmbedded(engine, flags)
    })
    after(() => embedded.close())
    suite(() => embedded.client)
  })
}

/** A suite that must hold whatever engine keeps the objects. */
export function onEveryEngine(title: string, suite: Suite, flags: readonly string[] = everyKind): void {
  for (const engine of engines) suiteOn(engine, title, suite, flags)
}

/** A suite about what is decided before an engine is asked, and is the same for all: on the one that servers usually have. */
export function onUsualEngine(title: string, suite: Suite, flags: readonly string[] = everyKind): void {
  suiteOn(engines.at(-1) ?? 'lmdb', title, suite, flags)
}
