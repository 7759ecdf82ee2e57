// Compacts etcd's history by one replica per interval: the first that finds `<prefix>.compacted` unchanged since its last attempt.

import { StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { encodeCompact, methods } from './grpc/etcd-messages.js'
import { GrpcError, grpcCodes } from './grpc/grpc-error.js'
import type { Numbering } from './revision-numbering.js'

interface CompactionOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly retryTimeoutMs: number
}

export async function readCompacted(options: CompactionOptions): Promise<number> {
  return (await readRecord(options)).revision
}

export interface Compaction {
  /** Does nothing if another replica has compacted since the last call. */
  run(revision: number): Promise<void>
}

interface CompactionRecord {
  readonly revision: number
  /** etcd's revision of the key; 0: absent. */
  readonly step: number
}

export async function createCompaction(options: CompactionOptions): Promise<Compaction> {
  let lastRecord = await readRecord(options)
  return {
    async run(revision) {
      const { isClaimed, record } = await claimCompaction({ revision, step: lastRecord.step }, options)
      lastRecord = record
      if (isClaimed) await compactEtcd(revision, options)
    },
  }
}

async function readRecord({ client, keys, retryTimeoutMs }: CompactionOptions): Promise<CompactionRecord> {
  return recordOf((await client.range({ key: keys.compacted }, retryTimeoutMs)).items[0])
}

async function claimCompaction(wanted: CompactionRecord, { client, keys, retryTimeoutMs }: CompactionOptions) {
  const key = keys.compacted
  // A retry after a lost response finds the key changed; then the next interval compacts.
  const { succeeded, revision, responses } = await client.transact(
    {
      compare: [{ key, modRevision: wanted.step }],
      success: [{ kind: 'put', key, value: [Buffer.from(String(wanted.revision))] }],
      failure: [{ kind: 'range', request: { key } }],
    },
    retryTimeoutMs,
  )
  const record = succeeded ? { revision: wanted.revision, step: revision } : recordOf(responses[0]?.range?.items[0])
  return { isClaimed: succeeded, record }
}

async function compactEtcd(revision: number, { client, numbering, retryTimeoutMs }: CompactionOptions): Promise<void> {
  const step = numbering.wholeStepsUpTo(revision)
  if (step < 1) return
  try {
    await client.callWithRetry(methods.compact, encodeCompact(step), retryTimeoutMs)
  } catch (error) {
    // An operator, or etcd itself, has compacted further.
    if (error instanceof GrpcError && error.code === grpcCodes.outOfRange) return
    throw error instanceof GrpcError ? new StorageUnavailableError(`etcd does not compact: ${error.message}`) : error
  }
}

function recordOf(item: { readonly value: Buffer; readonly modRevision: number } | undefined): CompactionRecord {
  return { revision: Number(item?.value.toString() ?? 0), step: item?.modRevision ?? 0 }
}
