// Consistent reads: etcd is asked for the revision of the newest data, and the mirror waited for. All who ask while a question is on its way
// share the next one, so that a thousand readers cost etcd two small reads at a time. A replica that is certain to be the only one who writes
// does not ask.

import type { Mirror } from '../mirror.js'
import { StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError } from './grpc-error.js'
import { decodeRange, encodeRange, methods } from './messages.js'
import type { Ownership } from './ownership.js'

export interface SettlingOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly mirror: Mirror
  readonly ownership: Ownership
  /** Whether the mirror shows everything that this replica has sent. */
  readonly hasOwnWrites: () => boolean
  readonly patienceMs: number
}

const leastPatienceMs = 500

/** Gives a revision at which the mirror shows every write acknowledged by anybody before the call. */
export function createSettling(options: SettlingOptions): () => number | Promise<number> {
  const { client, keys, mirror, ownership, hasOwnWrites, patienceMs } = options
  const question = encodeRange({ key: keys.head, end: keys.headEnd })
  let asking: Promise<unknown> | undefined
  let next: Promise<number> | undefined

  const askOnce = async (timeoutMs: number): Promise<number> => {
    const askedMs = performance.now()
    const { items } = decodeRange(await client.call(methods.range, question, timeoutMs))
    ownership.confirm(
      items.find(({ key }) => keys.kindOf(key) === 'owner'),
      askedMs,
    )
    void ownership.claimIfQuiet().catch(() => undefined)
    return items.find(({ key }) => keys.kindOf(key) === 'head')?.modRevision ?? 0
  }
  const settle = async (deadlineMs: number): Promise<number> => {
    next = undefined
    const isAsked = client.persist(deadlineMs, askOnce)
    asking = isAsked
    try {
      await isAsked
    } catch (error) {
      throw error instanceof GrpcError ? new StorageUnavailableError(`etcd does not answer: ${error.message}`) : error
    } finally {
      asking = undefined
    }
    const before = mirror.position
    if (await mirror.reach(await isAsked, patienceMs)) return mirror.revision
    // A mirror that moves has much to do; one that does not may be fed by a member that is cut off from the others.
    if (mirror.position === before) client.changeMember('changes do not arrive')
    throw new StorageUnavailableError('etcd cannot be used now: changes do not arrive')
  }
  /** The time that it takes to get an answer to the question before counts. */
  const settleAfter = (before: Promise<unknown>): Promise<number> => {
    const deadlineMs = performance.now() + patienceMs
    const ask = (): Promise<number> => settle(Math.max(deadlineMs, performance.now() + leastPatienceMs))
    return before.then(ask, ask)
  }
  const isCertain = (): boolean => ownership.isCertain && mirror.position >= ownership.step && hasOwnWrites()

  return () => {
    if (isCertain()) {
      if (ownership.isFading && !asking) settle(performance.now() + patienceMs).catch(() => undefined)
      return mirror.revision
    }
    if (!asking) return settle(performance.now() + patienceMs)
    next ??= settleAfter(asking)
    return next
  }
}
