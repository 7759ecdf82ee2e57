// Commits that are carried out by one transaction of etcd. Each is a transaction in the transaction, with its own conditions, so that the failure
// of one does not touch the others.
//
//   if    the author's key is as this process wrote it last       so that a batch which is sent again after a lost answer happens once
//   and   the owner's key is as this process saw it last          so that an owner can rely on being the only one who writes
//   then  write the head, with the replica, the number of the batch and the indexes of deletions
//         write the author's key, with the number of the batch
//         each commit: if its keys are at the expected revisions, then write them
//   else  read the author's key, whose number tells whether the batch has arrived before, the owner's, and the head
//
// Of an owner the head says all that the author's key would, because nobody else writes it: it stands in that one's place then.

import type { CommitOutcome, Write } from '../storage.js'
import type { EtcdKeys } from './etcd-keys.js'
import type { Comparison, Operation, Txn } from './messages.js'
import type { Numbering } from './numbering.js'
import { valuePrefix } from './stored-value.js'

export interface PendingCommit {
  readonly writes: readonly Write[]
  /** In terms of performance.now(). */
  readonly deadlineMs: number
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
}

export interface AuthorKey {
  readonly key: string
  /** As it was last seen; 0: absent. */
  readonly revision: number
  readonly lease: bigint
}

export interface BatchOptions {
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  /** See ownership.ts. */
  readonly replicaId: string
  readonly ownerRevision: number
  /** Undefined for the owner. */
  readonly author: AuthorKey | undefined
  /** etcd's revision of the head as it was last seen; 0: absent. */
  readonly headRevision: number
  readonly batchNumber: number
  leaseOf(write: Write): bigint | undefined
}

/** etcd takes 128 operations in a transaction, those of the widest inner one included, unless it is told otherwise. */
const mostOperations = 128
const ownOperations = 2
export const widestCommit = mostOperations - ownOperations - 1
const mostCommits = 100
/** etcd takes requests of 1.5 MiB, unless it is told otherwise. A single commit may be larger and is then refused by etcd itself. */
const mostBytes = 1 << 20
const bytesPerWrite = 128

/** How many of the waiting commits the next batch takes: in order, each key at most once. */
export function countForBatch(waiting: readonly PendingCommit[]): number {
  if (waiting.length <= 1) return waiting.length
  const keys = new Set<string>()
  let bytes = 0
  let widest = 0
  for (const [count, { writes }] of waiting.entries()) {
    bytes += commitBytes(writes)
    widest = Math.max(widest, writes.length)
    const isTooMuch = bytes > mostBytes || count + 1 + ownOperations + widest > mostOperations || count >= mostCommits
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
  const success: Operation[] = [{ kind: 'put', key: keys.head, value: [headValue(commits, options)] }]
  if (author) success.push({ kind: 'put', key: author.key, value: [Buffer.from(String(batchNumber))], lease: author.lease })
  for (const [index, { writes }] of commits.entries()) success.push({ kind: 'txn', txn: commitTxn(writes, index, options) })
  const last = author ? { key: author.key, modRevision: author.revision } : { key: keys.head, modRevision: options.headRevision }
  return {
    compare: [last, { key: keys.owner, modRevision: options.ownerRevision }],
    success,
    failure: [
      { kind: 'range', request: { key: keys.head, end: keys.headEnd } },
      ...(author ? [{ kind: 'range', request: { key: author.key } } as const] : []),
    ],
  }
}

/** How many operations of a batch come before its commits. */
export const operationsBefore = (author: AuthorKey | undefined): number => (author ? ownOperations : ownOperations - 1)

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

/** A step that no key can have stands for revisions of other times, because 0 would mean that the key is absent. */
function expectedStep(revision: number, numbering: Numbering): number {
  const step = numbering.stepOf(revision)
  return step > 0 ? step : Number.MAX_SAFE_INTEGER
}

/** The number of the batch stands among the indexes, under a key that nobody has. */
const batchKey = ''

/** A deletion leaves no value that could say its index, so the head says it. */
function headValue(commits: readonly PendingCommit[], { replicaId, batchNumber }: BatchOptions): Buffer {
  const numbers: [string, number][] = [[batchKey, batchNumber]]
  for (const [index, { writes }] of commits.entries()) {
    for (const { key, value } of writes) if (value === undefined) numbers.push([key, index])
  }
  return Buffer.from(replicaId + JSON.stringify(numbers))
}

/** Ids of replicas are UUIDs. */
const idBytes = 36

export interface HeadValue {
  /** Empty for a head that a restore has written. */
  readonly replicaId: string
  /** 0 for one that was written by an older server. */
  readonly batchNumber: number
  /** The indexes of the deletions of the step, by key. */
  readonly deletions: ReadonlyMap<string, number>
}

const noDeletions: ReadonlyMap<string, number> = new Map()

export function readHeadValue(bytes: Buffer): HeadValue {
  const replicaId = bytes.toString('latin1', 0, idBytes)
  if (bytes.length <= idBytes) return { replicaId, batchNumber: 0, deletions: noDeletions }
  const deletions = new Map(JSON.parse(bytes.toString('utf8', idBytes)) as [string, number][])
  return { replicaId, batchNumber: deletions.get(batchKey) ?? 0, deletions }
}
