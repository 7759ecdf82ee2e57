// One etcd transaction for many commits, each a nested transaction with its own conditions, so that a failed commit affects no other.
//
//   if    the author's key is unchanged since this process wrote it      so that a batch retried after a lost response is applied once
//   then  write the head, with the indexes of deletions
//         write the author's key, with the number of the batch
//         each commit: if its keys are at the expected revisions, then write them
//   else  read the author's key, whose batch number shows whether the batch was stored before

import type { CommitOutcome, Write } from '../storage.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { Comparison, Operation, Txn } from './grpc/etcd-messages.js'
import type { Numbering } from './revision-numbering.js'
import { valuePrefix } from './stored-value.js'

export interface PendingCommit {
  readonly writes: readonly Write[]
  /** In terms of performance.now(). */
  readonly deadlineMs: number
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

/** Key with the number of the last batch that this process has written. */
interface AuthorKey {
  readonly key: string
  /** modRevision of the last read or write; 0: absent. */
  readonly revision: number
  readonly lease: bigint
}

interface BatchOptions {
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly replicaId: string
  readonly author: AuthorKey
  readonly batchNumber: number
  leaseOf(write: Write): bigint | undefined
}

/** etcd's default limit for the operations of a transaction, including those of its widest nested transaction. */
const maxOperations = 128
/** Writes of the head, a key that every batch writes, and of the author's key. */
export const ownOperations = 2
export const maxWritesPerCommit = maxOperations - ownOperations - 1
const maxCommits = 100
/** etcd's default limit for a request is 1.5 MiB. A single commit may be larger, and is refused by etcd itself. */
const maxBytes = 1 << 20
const bytesPerWrite = 128

/** Number of waiting commits for the next batch: in order, each key at most once. */
export function countForBatch(waiting: readonly PendingCommit[]): number {
  if (waiting.length <= 1) return waiting.length
  const keys = new Set<string>()
  let bytes = 0
  let widest = 0
  for (const [count, { writes }] of waiting.entries()) {
    bytes += commitBytes(writes)
    widest = Math.max(widest, writes.length)
    const isTooMuch = bytes > maxBytes || count + 1 + ownOperations + widest > maxOperations || count >= maxCommits
    if (count > 0 && (isTooMuch || writes.some(({ key }) => keys.has(key)))) return count
    for (const { key } of writes) keys.add(key)
  }
  return waiting.length
}

export function batchBytes(commits: readonly PendingCommit[]): number {
  return commits.reduce((bytes, { writes }) => bytes + commitBytes(writes), 1024)
}

function commitBytes(writes: readonly Write[]): number {
  let bytes = 0
  for (const { key, value } of writes) bytes += bytesPerWrite + 2 * key.length + (value?.length ?? 0)
  return bytes
}

export function batchTxn(commits: readonly PendingCommit[], options: BatchOptions): Txn {
  const { keys, author, batchNumber } = options
  return {
    compare: [{ key: author.key, modRevision: author.revision }],
    success: [
      { kind: 'put', key: keys.head, value: [headValue(commits, options)] },
      { kind: 'put', key: author.key, value: [Buffer.from(String(batchNumber))], lease: author.lease },
      ...commits.map(({ writes }, index): Operation => ({ kind: 'txn', txn: commitTxn(writes, index, options) })),
    ],
    failure: [{ kind: 'range', request: { key: author.key } }],
  }
}

function commitTxn(writes: readonly Write[], index: number, { keys, numbering, leaseOf }: BatchOptions): Txn {
  const compare: Comparison[] = []
  for (const { key, expect } of writes) {
    if (expect !== undefined) compare.push({ key: keys.dataKey(key), modRevision: expect === 0 ? 0 : expectedStep(expect, numbering) })
  }
  const success = writes.map((write): Operation => {
    const key = keys.dataKey(write.key)
    if (write.value === undefined) return { kind: 'delete', key }
    const lease = leaseOf(write)
    const value = [valuePrefix(index, write.expiresAtMs), write.value]
    return { kind: 'put', key, value, ...(lease === undefined ? {} : { lease }) }
  })
  return { compare, success, failure: [] }
}

/** The revision of etcd (step) of a revision. Older revisions than the store's become a step that no key can have; 0 would mean absent. */
function expectedStep(revision: number, numbering: Numbering): number {
  const step = numbering.stepOf(revision)
  return step > 0 ? step : Number.MAX_SAFE_INTEGER
}

/** Replica id, and key and index of each deletion as JSON: a deleted key has no value that could contain its index. */
function headValue(commits: readonly PendingCommit[], { replicaId }: BatchOptions): Buffer {
  const indexes: [string, number][] = []
  for (const [index, { writes }] of commits.entries()) {
    for (const { key, value } of writes) if (value === undefined) indexes.push([key, index])
  }
  return Buffer.from(indexes.length > 0 ? replicaId + JSON.stringify(indexes) : replicaId)
}

const idBytes = 36
const noDeletions: ReadonlyMap<string, number> = new Map()

/** The indexes of a step's deletions, by key. Heads of format 2 have the batch number under the empty key; restores write empty heads. */
export function readDeletions(head: Buffer): ReadonlyMap<string, number> {
  return head.length <= idBytes ? noDeletions : new Map(JSON.parse(head.toString('utf8', idBytes)) as [string, number][])
}
