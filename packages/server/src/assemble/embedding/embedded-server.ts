// The embedding API of an assembled server: users with their clients, snapshots and forks.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { connect } from '@cluster-apiserver/client/node/connect.js'
import type { TypedClient } from '@cluster-apiserver/client/typed/typed-client.js'
import type { MemorySnapshot, MemoryStorage } from '../../storage/memory/memory-storage.js'
import type { Storage } from '../../storage/storage.js'
import { type AdminCredential, clientConfigOf, newToken, renderAdminKubeconfig } from '../admin-kubeconfig.js'
import type { Access, EmbeddedServer, RunningServer } from '../running-server.js'
import type { SharedParts } from '../start-context.js'
import { createSimulatedNodes } from '../testkit/simulated-nodes.js'
import { type Family, ServerSnapshot } from '../testkit/snapshot.js'
import type { Testkit } from '../testkit/testkit.js'
import type { AssembledServer } from './assembled-server.js'
import { restoreState } from './reset-state.js'

export interface EmbeddingOptions {
  /** Starts a fork. */
  readonly fork: (parent: SharedParts, users: readonly Access[]) => Promise<EmbeddedServer>
  readonly family: Family
  /** Users of the parent of a fork. */
  readonly users: readonly Access[]
  /** Token of the control API, if there is one. */
  readonly testkitToken: string | undefined
  readonly testkit: Testkit
  /** False without simulated nodes. */
  readonly simulatesNodes: boolean
}

export function embeddedServer(assembled: AssembledServer, options: EmbeddingOptions): EmbeddedServer {
  const { parts, ...server } = assembled
  const { engine, credential, url, caPem, memory } = parts
  const { family, testkit, testkitToken } = options
  const accessByUser = new Map<string, Access>()
  const initial = memory?.snapshot()
  let isClosed = false
  let lastRestore = Promise.resolve()
  const checkOpen = (method: string): void => {
    if (isClosed) throw new Error(`${method}: the server is closed`)
  }
  const memoryFor = (method: string, participle: string): MemoryStorage => {
    checkOpen(method)
    if (memory === undefined) throw new Error(`${method}: only a server in memory can be ${participle}; start one without dataDir and etcd`)
    return memory
  }
  /** Concurrent calls run one after the other. */
  const restore = (storage: MemoryStorage, snapshot: MemorySnapshot): Promise<void> => {
    const restored = lastRestore.then(() => restoreState(parts, storage, snapshot))
    lastRestore = restored.catch(() => undefined)
    return restored
  }
  const createAccess = (user: string, groups: readonly string[], token = newToken()): Access => {
    const userInfo = { name: user, uid: '', groups, extra: {} }
    engine.access.addToken?.(token, userInfo)
    const credential = { token, user: userInfo }
    const clientConfiguration = renderAdminKubeconfig({ identity: engine.identity, url, caPem, credential })
    return withClient({ user, groups, token, clientConfiguration }, credential)
  }
  const accessKey = (user: string, groups: readonly string[]): string => JSON.stringify([user, groups])
  const clients: TypedClient[] = []
  const withClient = <T extends object>(target: T, credential: AdminCredential): T & Pick<Access, 'client'> => {
    let client: TypedClient | undefined
    const createClient = (): TypedClient => {
      const config = clientConfigOf({ identity: engine.identity, url, caPem, credential })
      client = connect({ config, identity: engine.identity.name, environment: {}, userAgent: testkit.inspection.ownUserAgent })
      clients.push(client)
      return client
    }
    return Object.defineProperty(target, 'client', { get: () => client ?? createClient(), enumerable: true }) as T & Pick<Access, 'client'>
  }
  for (const { user, groups, token } of options.users) accessByUser.set(accessKey(user, groups), createAccess(user, groups, token))
  const close: RunningServer['close'] = async (options = {}) => {
    refuseUnknownOptions('close', options, { immediately: true })
    testkit.inspection.beforeClose()
    isClosed = true
    for (const client of clients.splice(0)) client.close()
    await server.close(options)
  }
  const embedded: Omit<EmbeddedServer, 'client'> = {
    ...server,
    ...testkit.inspection.server(parts),
    close,
    user: credential.user.name,
    groups: credential.user.groups,
    token: credential.token,
    testkit: testkitToken === undefined ? undefined : { url: `${url}/testkit`, token: testkitToken },
    as: (user, groups = []) => {
      if (user === '') throw new TypeError('as: the user name must not be empty')
      return getOrInsert(accessByUser, accessKey(user, groups), () => createAccess(user, [...groups]))
    },
    reset: async () => {
      const storage = memoryFor('reset', 'reset')
      if (initial !== undefined) await restore(storage, initial)
    },
    snapshot: () => new ServerSnapshot(family, memoryFor('snapshot', 'copied').snapshot()),
    restore: async (snapshot) => restore(memoryFor('restore', 'restored'), ServerSnapshot.contentsOf(snapshot, family)),
    fork: async () => {
      const shared = parts.share(memoryFor('fork', 'forked').snapshot())
      return options.fork(shared, [...accessByUser.values()])
    },
    compact: async () => {
      checkOpen('compact')
      await compactAll(memory ?? parts.storage)
    },
    clock: testkit.clock,
    faults: testkit.faults,
    nodes: createSimulatedNodes(parts, options.simulatesNodes, () => complete.client),
    webhook: (spec, answer) => testkit.webhooks.open(spec, answer),
    [Symbol.asyncDispose]: () => close({ immediately: true }),
  }
  const complete: EmbeddedServer = withClient(embedded, credential)
  return complete
}

/** Key outside all collections of objects. */
const markerKey = 'testkit/compaction'

/** Compacts the history. Writes first, so that all revisions that clients know are older than the newest one, which stays. */
async function compactAll(storage: Storage): Promise<void> {
  for (const value of [Buffer.from('1'), undefined]) await storage.commit([{ key: markerKey, value, expect: undefined }])
  await storage.compact(storage.revision)
}
