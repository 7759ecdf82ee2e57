// Fills a mirror (the local copy of etcd's data) that is empty or ahead of etcd: as of the compacted revision if etcd still has it,
// so that later history is replayed and clients of another replica can resume here.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { EtcdClient } from '../etcd-client.js'
import { readCompacted } from '../etcd-compaction.js'
import type { EtcdKeys } from '../etcd-keys.js'
import { GrpcError, grpcCodes } from '../grpc/grpc-error.js'
import { listEntries } from '../list-entries.js'
import type { Numbering } from '../revision-numbering.js'
import type { Mirror } from './mirror.js'

interface LoadOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly logger: Logger
  readonly retryTimeoutMs: number
}

/** Does nothing if the mirror can continue from its position. */
export async function loadMirror(options: LoadOptions): Promise<void> {
  const { client, mirror, keys, logger, retryTimeoutMs } = options
  const newest = await client.range({ key: keys.head }, retryTimeoutMs)
  if (mirror.isLoaded) {
    if (mirror.position <= newest.revision) return
    logger.warn(
      { mirrorRevision: mirror.position, etcdRevision: newest.revision },
      'etcd is behind the local mirror; rebuilding the mirror',
    )
  }
  const hasData = newest.items.length > 0
  const compacted = await readCompacted(options)
  const startStep = hasData ? await oldestStep(compacted, options) : undefined
  try {
    await loadAt(startStep ?? newest.revision, compacted, options)
  } catch (error) {
    if (!isCompacted(error)) throw error
    await loadAt((await client.range({ key: keys.head }, retryTimeoutMs)).revision, compacted, options)
  }
}

async function loadAt(step: number, compacted: number, options: LoadOptions): Promise<void> {
  const { mirror, numbering, logger } = options
  await mirror.beginLoad()
  let count = 0
  if (step > 0) {
    for await (const { entries } of listEntries({ ...options, step })) {
      mirror.load(entries)
      count += entries.length
    }
  }
  mirror.endLoad(step, Math.max(step > 0 ? numbering.endOf(step) : numbering.base, compacted))
  logger.info({ objects: count }, 'etcd mirror loaded')
}

/**
 * The step (revision of etcd) at which etcd's history of this prefix starts; 0: complete; undefined: etcd has compacted more than the
 * replicas requested.
 */
async function oldestStep(compacted: number, { client, keys, numbering, retryTimeoutMs }: LoadOptions): Promise<number | undefined> {
  const step = Math.max(0, numbering.wholeStepsUpTo(compacted))
  try {
    await client.range({ key: keys.head, revision: Math.max(1, step) }, retryTimeoutMs)
    return step
  } catch (error) {
    if (isCompacted(error)) return undefined
    throw error
  }
}

function isCompacted(error: unknown): boolean {
  return error instanceof GrpcError && error.code === grpcCodes.outOfRange
}
