// Consistent reads: etcd is asked for the revision of the newest data, and the mirror waited for. All who ask while a question is on its way
// share the next one, so that a thousand readers cost etcd two small reads at a time. A replica that is certain to be the only one who writes
// does not ask; where others read, it asks while a write of its own is on its way, which they may have shown already.

import type { Mirror } from '../mirror.js'
import { type Storage, StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError } from './grpc-error.js'
import { decodeRange, encodeRange, methods } from './messages.js'
import type { Ownership } from './ownership.js'
import type { ReaderKey } from './reader-key.js'

export interface OwnWrites {
  /** Whether the mirror shows everything that this replica has sent. */
  readonly hasArrived: boolean
  /** Whether something may be in etcd whose answer is not here. */
  readonly isWriting: boolean
  /** Resolves when it shows what has been sent until now: then with true, or with false where that is in doubt. */
  arrive(): Promise<boolean>
}

export interface ReadIndexOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly mirror: Mirror
  readonly ownership: Ownership
  readonly readerKey: ReaderKey
  readonly ownWrites: OwnWrites
  readonly patienceMs: number
}

const leastPatienceMs = 500

/** Gives a revision at which the mirror shows every write acknowledged by anybody before the call. */
export function createReadIndex(options: ReadIndexOptions): Storage['readIndex'] {
  const { client, keys, mirror, ownership, readerKey, ownWrites, patienceMs } = options
  const question = encodeRange({ key: keys.head, end: keys.headEnd })
  let asking: Promise<unknown> | undefined
  let next: Promise<number> | undefined

  const askOnce = async (timeoutMs: number): Promise<number> => {
    const askedMs = performance.now()
    const { items } = decodeRange(await client.call(methods.range, question, timeoutMs))
    ownership.confirm(items, askedMs)
    void ownership.claimIfQuiet().catch(() => undefined)
    return items.find(({ key }) => keys.kindOf(key) === 'head')?.modRevision ?? 0
  }
  const askNow = async (deadlineMs: number): Promise<number> => {
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
    throw new StorageUnavailableError('etcd is unavailable: changes do not arrive')
  }
  /** Whether everything that anybody was told of is in the mirror, or a write of this replica's own. */
  const isOwner = (): boolean => ownership.isCertain && mirror.position >= ownership.step
  /** The time that it takes to get an answer to the question before counts. */
  const ask = (deadlineMs: number): Promise<number> => {
    if (!asking) return askNow(deadlineMs)
    const askAgain = (): Promise<number> => askNow(Math.max(deadlineMs, performance.now() + leastPatienceMs))
    next ??= asking.then(askAgain, askAgain)
    return next
  }
  const announce = async (deadlineMs: number): Promise<number> => {
    await readerKey.announce()
    return ask(Math.max(deadlineMs, performance.now() + leastPatienceMs))
  }
  const waitForOwnWrites = async (deadlineMs: number): Promise<number> =>
    (await ownWrites.arrive()) ? mirror.revision : ask(Math.max(deadlineMs, performance.now() + leastPatienceMs))

  return (purpose) => {
    const deadlineMs = performance.now() + patienceMs
    if (!isOwner()) return readerKey.isThere ? ask(deadlineMs) : announce(deadlineMs)
    if (ownership.isFading && !asking) askNow(deadlineMs).catch(() => undefined)
    if (ownWrites.hasArrived || (purpose === undefined && ownership.isAlone)) return mirror.revision
    return purpose === 'write' ? waitForOwnWrites(deadlineMs) : ask(deadlineMs)
  }
}
