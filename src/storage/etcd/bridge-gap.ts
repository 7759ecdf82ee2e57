// When etcd has given up history that the mirror has not seen: everything is listed as of the oldest revision that is left, and what differs from
// the mirror becomes changes. What happened several times in the gap is seen once; nothing is missed, nothing invented.
//
// Deletions come first, at the revision after the mirror's, because when they happened is not known any more: a watcher that goes on
// elsewhere after having seen some of the changes may then be told of a deletion again, but it never misses one.

import type { Logger } from '../../base/logger.js'
import type { Mirror, MirroredWrite } from '../mirror.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { type ListedPage, listEntries } from './list-entries.js'
import type { Numbering } from './numbering.js'

export interface BridgeOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly logger: Logger
  readonly patienceMs: number
}

/** Brings the mirror to the state of a step of etcd. */
export async function bridgeGap(step: number, options: BridgeOptions): Promise<void> {
  const { mirror, numbering, logger } = options
  logger.warn({ position: mirror.position, step }, 'etcd mirror fell behind compacted history; comparing with etcd')
  const deletions: MirroredWrite[] = []
  const puts: MirroredWrite[] = []
  for await (const page of listEntries({ ...options, step })) compare(page, { mirror, deletions, puts })
  puts.sort((a, b) => a.revision - b.revision)
  mirror.apply({ writes: [...deletions, ...puts], position: step, compacted: numbering.endOf(step) })
  logger.info({ changes: deletions.length + puts.length }, 'etcd mirror caught up')
}

interface Differences {
  readonly mirror: Mirror
  readonly deletions: MirroredWrite[]
  readonly puts: MirroredWrite[]
}

function compare({ entries, start, end }: ListedPage, { mirror, deletions, puts }: Differences): void {
  const known = new Map<string, number>()
  for (const { key, revision } of mirror.entries({ start, end })) known.set(key, revision)
  for (const { key, revision, value } of entries) {
    if (known.get(key) !== revision) puts.push({ key, revision, value })
    known.delete(key)
  }
  for (const key of known.keys()) deletions.push({ key, revision: mirror.revision + 1, value: undefined })
}
