// Runs the storage contract (tests that every storage engine must pass) on the etcd engine, with one key prefix per test.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { storageContract } from '../../src/storage/contract/storage.contract.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica } from './open-replica.js'

interface ContractOptions {
  readonly members: number
  /** True if the mirror (local copy of the data) is reused after a reopen; otherwise everything is read from etcd. */
  readonly keepsMirror: boolean
}

export function etcdContract(name: string, { members, keepsMirror }: ContractOptions): void {
  describe(name, { skip: whyNoEtcd ?? false }, () => {
    let cluster: EtcdCluster
    before(async () => {
      cluster = await EtcdCluster.start({ members })
    })
    after(() => cluster.stop())

    storageContract(name, async () => {
      const folder = keepsMirror ? { mirrorFolder: mkdtempSync(join(tmpdir(), 'mirror-test-')) } : {}
      const options = { ...folder, endpoints: cluster.endpoints, prefix: newPrefix() }
      let storage = await openReplica(options)
      return {
        storage,
        async reopen() {
          await storage.close()
          storage = await openReplica(options)
          return storage
        },
        async close() {
          await storage.close()
          if (folder.mirrorFolder !== undefined) rmSync(folder.mirrorFolder, { recursive: true })
        },
      }
    })
  })
}
