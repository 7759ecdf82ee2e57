// An etcd for replayed servers, each with its own prefix.

import { EtcdCluster, whyNoEtcd } from '../../packages/server/test/etcd/etcd-cluster.js'

export interface ServersOnEtcd {
  /** Flags of the next server. */
  readonly nextFlags: () => readonly string[]
  close(): Promise<void>
}

export async function serversOnEtcd(): Promise<ServersOnEtcd> {
  if (whyNoEtcd !== undefined) throw new Error(whyNoEtcd)
  const cluster = await EtcdCluster.start({ members: 1 })
  let servers = 0
  return {
    nextFlags: () => {
      servers += 1
      return [`--etcd-servers=${cluster.endpoints.join(',')}`, `--etcd-prefix=/conformance/${servers}`]
    },
    close: () => cluster.stop(),
  }
}
