// An etcd for servers that recordings are replayed against, each under a prefix of its own.

import { EtcdCluster, whyNoEtcd } from '../etcd/etcd-cluster.js'

export interface ServersOnEtcd {
  /** For the next server. */
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
