// Gives up old history in etcd, shared politely among replicas: all of them ask at about the same interval, and one of them does it.
//
// The key `<prefix>.compacted` says up to which of our revisions. Whoever finds it as it was at their own last turn writes it and compacts;
// whoever finds it changed knows that another one was here, and leaves it at that.

import { StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError, grpcCodes } from './grpc-error.js'
import { decodeRange, decodeTxn, encodeCompact, encodeRange, encodeTxn, methods } from './messages.js'
import type { Numbering } from './numbering.js'

export interface CompactionOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly patienceMs: number
}

/** The revision up to which history was given up by agreement; 0 if never. */
export async function readCompacted(options: CompactionOptions): Promise<number> {
  return (await readRecord(options)).revision
}

export interface Compaction {
  /** Does nothing when another replica was here since the last call. */
  run(revision: number): Promise<void>
}

interface CompactionRecord {
  /** Ours. */
  readonly revision: number
  /** etcd's, of the key itself; 0: it is not there yet. */
  readonly step: number
}

/** `seen` is the key as it was when this replica began. */
export async function createCompaction(options: CompactionOptions): Promise<Compaction> {
  let seen = await readRecord(options)
  return {
    async run(revision) {
      const { isOurs, record } = await claim({ revision, step: seen.step }, options)
      seen = record
      if (isOurs) await compactEtcd(revision, options)
    },
  }
}

async function readRecord({ client, keys, patienceMs }: CompactionOptions): Promise<CompactionRecord> {
  const request = encodeRange({ key: keys.compacted })
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.range, request, timeoutMs))
  return recordOf(decodeRange(answer).items[0])
}

async function claim(wanted: CompactionRecord, { client, keys, patienceMs }: CompactionOptions) {
  const key = keys.compacted
  const request = encodeTxn(
    {
      compare: [{ key, modRevision: wanted.step }],
      success: [{ kind: 'put', key, value: [Buffer.from(String(wanted.revision))] }],
      failure: [{ kind: 'range', request: { key } }],
    },
    256,
  )
  // Sent again after a lost answer it finds the key changed, and leaves the compaction to the next turn.
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.txn, request, timeoutMs))
  const { succeeded, revision, answers } = decodeTxn(answer)
  const record = succeeded ? { revision: wanted.revision, step: revision } : recordOf(answers[0]?.range?.items[0])
  return { isOurs: succeeded, record }
}

async function compactEtcd(revision: number, { client, numbering, patienceMs }: CompactionOptions): Promise<void> {
  const step = numbering.wholeStepsUpTo(revision)
  if (step < 1) return
  try {
    const request = encodeCompact(step)
    await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.compact, request, timeoutMs))
  } catch (error) {
    // Somebody else has compacted further: an operator, or etcd itself.
    if (error instanceof GrpcError && error.code === grpcCodes.outOfRange) return
    throw error instanceof GrpcError ? new StorageUnavailableError(`etcd does not compact: ${error.message}`) : error
  }
}

function recordOf(item: { readonly value: Buffer; readonly modRevision: number } | undefined): CompactionRecord {
  return { revision: Number(item?.value.toString() ?? 0), step: item?.modRevision ?? 0 }
}
