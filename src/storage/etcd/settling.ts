// Consistent reads: etcd is asked for the revision of the newest data, and the mirror waited for. All who ask while a question is on its way
// share the next one, so that a thousand readers cost etcd two small reads at a time.

import type { Mirror } from '../mirror.js'
import { StorageUnavailableError } from '../storage.js'
import type { EtcdClient } from './etcd-client.js'
import type { EtcdKeys } from './etcd-keys.js'
import { GrpcError } from './grpc-error.js'
import { decodeRange, encodeRange, methods } from './messages.js'

export interface SettlingOptions {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly mirror: Mirror
  readonly patienceMs: number
}

/** Resolves with a revision at which the mirror shows every write acknowledged by anybody before the call. */
export function createSettling({ client, keys, mirror, patienceMs }: SettlingOptions): () => Promise<number> {
  const question = encodeRange({ key: keys.head })
  let asking: Promise<unknown> | undefined
  let next: Promise<number> | undefined

  const ask = async (): Promise<number> => {
    const deadlineMs = performance.now() + patienceMs
    const answer = await client.persist(deadlineMs, (timeoutMs) => client.call(methods.range, question, timeoutMs))
    return decodeRange(answer).items[0]?.modRevision ?? 0
  }
  const settle = async (): Promise<number> => {
    next = undefined
    const isAsked = ask()
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

  return () => {
    if (!asking) return settle()
    next ??= asking.then(settle, settle)
    return next
  }
}
