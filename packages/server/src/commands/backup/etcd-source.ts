// Copy source: an etcd prefix at one revision; servers may write to it during a backup, but not during a migrate.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { BackupError, type CopiedEntry, type CopySource } from '../../storage/backup/copied-entry.js'
import { readFormat } from '../../storage/etcd/claim-prefix.js'
import { EtcdClient } from '../../storage/etcd/etcd-client.js'
import { type EtcdTls, readEndpoints } from '../../storage/etcd/etcd-endpoint.js'
import { createEtcdKeys, type EtcdKeys } from '../../storage/etcd/etcd-keys.js'
import { listEntries } from '../../storage/etcd/list-entries.js'
import { createNumbering } from '../../storage/etcd/revision-numbering.js'

interface EtcdLocationOptions {
  readonly urls: readonly string[]
  readonly prefix: string
  readonly tls: EtcdTls
  readonly logger: Logger
}

export interface EtcdLocation {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly retryTimeoutMs: number
}

const retryTimeoutMs = 10_000

export function connectEtcd({ urls, prefix, tls, logger }: EtcdLocationOptions): EtcdLocation {
  const { endpoints, credentials } = readEndpoints(urls)
  return { client: new EtcdClient({ endpoints, credentials, tls, logger }), keys: createEtcdKeys(prefix), retryTimeoutMs }
}

export async function closeOnFailure<T>({ client }: EtcdLocation, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await client.close()
    throw error
  }
}

interface CurrentRevisions {
  /** Of the whole etcd cluster. */
  readonly cluster: number
  /** Last write to the prefix. */
  readonly prefix: number
}

export async function currentRevisions({ client, keys }: EtcdLocation): Promise<CurrentRevisions> {
  const { revision, items } = await client.range({ key: keys.head }, retryTimeoutMs)
  return { cluster: revision, prefix: items[0]?.modRevision ?? 0 }
}

/** `exclusive`: fails if the prefix is written before the end. */
export function openEtcdSource(location: EtcdLocation, exclusive: boolean): Promise<CopySource> {
  return closeOnFailure(location, () => open(location, exclusive))
}

async function open(location: EtcdLocation, exclusive: boolean): Promise<CopySource> {
  const format = await readFormat(location)
  if (!format) throw new BackupError(`there is no store with the prefix ${location.keys.prefix} in etcd`)
  if (format.isUnfinished) throw new BackupError(`a restore to the prefix ${location.keys.prefix} of etcd has not ended`)
  const numbering = createNumbering(format.base)
  const initial = await currentRevisions(location)
  return {
    identityName: format.mark,
    revision: numbering.endOf(initial.cluster),
    async *pages(): AsyncGenerator<readonly CopiedEntry[], void, undefined> {
      for await (const { entries } of listEntries({ ...location, numbering, step: initial.cluster })) if (entries.length > 0) yield entries
    },
    async checkUnchanged() {
      if (exclusive && (await currentRevisions(location)).prefix !== initial.prefix) {
        throw new BackupError('etcd was written meanwhile; stop all servers that use it and start again')
      }
    },
    close: () => location.client.close(),
  }
}
