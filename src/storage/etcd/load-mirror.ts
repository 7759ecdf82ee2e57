// The first copy: everything as of the revision up to which history was given up, so that what happened since can be replayed, and clients who
// come from another replica can go on where they were.

import type { Logger } from '../../base/logger.js'
import type { Mirror } from '../mirror.js'
import { readCompacted } from './compaction.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError, grpcCodes } from './grpc-error.js'
import { listEntries } from './list-entries.js'
import { decodeRange, encodeRange, methods, type RangeRequest } from './messages.js'
import type { Numbering } from './numbering.js'

export interface LoadOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly numbering: Numbering
  readonly mirror: Mirror
  readonly logger: Logger
  readonly patienceMs: number
}

/** Does nothing when the mirror is one that can go on. */
export async function loadMirror(options: LoadOptions): Promise<void> {
  const { mirror, keys, logger } = options
  const now = await ask({ key: keys.head }, options)
  if (mirror.isLoaded) {
    if (mirror.position <= now.revision) return
    logger.warn({ position: mirror.position, step: now.revision }, 'etcd is behind the local mirror; rebuilding the mirror')
  }
  const hasData = now.items.length > 0
  const compacted = await readCompacted(options)
  const since = hasData ? await oldestStep(compacted, options) : undefined
  try {
    await loadAt(since ?? now.revision, compacted, options)
  } catch (error) {
    if (!isGone(error)) throw error
    await loadAt((await ask({ key: keys.head }, options)).revision, compacted, options)
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

/** The step at which the history begins that etcd keeps of our data; 0: it has all of it; undefined: it has given up more than we know of. */
async function oldestStep(compacted: number, options: LoadOptions): Promise<number | undefined> {
  const step = Math.max(0, options.numbering.wholeStepsUpTo(compacted))
  try {
    await ask({ key: options.keys.head, revision: Math.max(1, step) }, options)
    return step
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof GrpcError && error.code === grpcCodes.outOfRange
}

async function ask(request: RangeRequest, { client, patienceMs }: LoadOptions) {
  const message = encodeRange(request)
  const deadlineMs = performance.now() + patienceMs
  return decodeRange(await client.persist(deadlineMs, (timeoutMs) => client.call(methods.range, message, timeoutMs)))
}
