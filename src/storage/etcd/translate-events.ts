// etcd's events as changes with our revisions. Those of one step of etcd come together, in the order in which they were written.

import type { MirroredWrite } from '../mirror.js'
import { readHeadValue } from './batch.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { WatchEvent } from './messages.js'
import type { Numbering } from './numbering.js'
import { readStoredValue } from './stored-value.js'

export interface TranslateOptions {
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** A key whose value was not written by this server; it is left out. */
  readonly onForeign: (key: string) => void
}

const noDeletions: ReadonlyMap<string, number> = new Map()

/** Whole steps only. */
export function translateEvents(events: readonly WatchEvent[], { keys, numbering, onForeign }: TranslateOptions): MirroredWrite[] {
  const writes: MirroredWrite[] = []
  let step = 0
  let place = 0
  let deletions = noDeletions
  for (const { key: bytes, value, modRevision, isDelete } of events) {
    if (modRevision !== step) {
      step = modRevision
      place = 0
      deletions = noDeletions
    }
    if (keys.isHead(bytes)) {
      deletions = isDelete ? noDeletions : readHeadValue(value)
      continue
    }
    const key = keys.ownKey(bytes)
    const stored = isDelete ? undefined : readStoredValue(value)
    if (!isDelete && !stored) onForeign(key)
    // Deletions without a head are etcd's own, of leases that ended: their order is their index.
    const index = stored?.index ?? deletions.get(key) ?? place
    place += 1
    // What is not ours is as good as absent.
    writes.push({ key, revision: numbering.revisionOf(step, index), value: stored?.value })
  }
  return writes
}
