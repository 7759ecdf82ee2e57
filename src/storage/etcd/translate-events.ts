// etcd's events as changes with our revisions. Those of one step of etcd come together, in the order in which they were written.

import type { MirroredWrite } from '../mirror.js'
import { type HeadValue, readHeadValue } from './batch.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { WatchEvent } from './messages.js'
import type { Numbering } from './numbering.js'
import { readStoredValue } from './stored-value.js'

export interface TranslateOptions {
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** A replica has written data, at a step of etcd. */
  readonly onWrite: (head: HeadValue, step: number) => void
  /** The right to write has changed hands. */
  readonly onOwner: (event: WatchEvent) => void
  /** A key whose value was not written by this server; it is left out. */
  readonly onForeign: (key: string) => void
}

/** Whole steps only. */
export function translateEvents(events: readonly WatchEvent[], options: TranslateOptions): MirroredWrite[] {
  const { keys, numbering, onWrite, onOwner, onForeign } = options
  const writes: MirroredWrite[] = []
  let step = 0
  let place = 0
  let head: HeadValue | undefined
  for (const event of events) {
    const { key: bytes, value, modRevision, isDelete } = event
    if (modRevision !== step) {
      step = modRevision
      place = 0
      head = undefined
    }
    const kind = keys.kindOf(bytes)
    if (kind === 'owner') onOwner(event)
    else if (kind === 'head') {
      head = readHeadValue(value)
      onWrite(head, step)
    }
    if (kind !== 'data') continue
    const key = keys.ownKey(bytes)
    const stored = isDelete ? undefined : readStoredValue(value)
    if (!isDelete && !stored) onForeign(key)
    // Deletions without a head are etcd's own, of leases that ended: their order is their index.
    const index = stored?.index ?? head?.deletions.get(key) ?? place
    place += 1
    // What is not ours is as good as absent.
    writes.push({ key, revision: numbering.revisionOf(step, index), value: stored?.value })
  }
  return writes
}
