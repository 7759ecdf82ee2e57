// An etcd and a prefix in it, as the commands that move data reach it.

import type { Logger } from '../../base/logger.js'
import { type EtcdTls, readEndpoints } from '../../storage/etcd/endpoint.js'
import { EtcdClient } from '../../storage/etcd/etcd-client.js'
import { createEtcdKeys, type EtcdKeys } from '../../storage/etcd/etcd-keys.js'
import { decodeRange, encodeRange, methods } from '../../storage/etcd/messages.js'

export interface EtcdPlaceOptions {
  /** Possibly with a user: `https://name:password@10.0.0.1:2379`. */
  readonly urls: readonly string[]
  readonly prefix: string
  readonly tls: EtcdTls
  readonly logger: Logger
}

export interface EtcdPlace {
  readonly client: EtcdClient
  readonly keys: EtcdKeys
  readonly patienceMs: number
}

const patienceMs = 10_000

export function reachEtcd({ urls, prefix, tls, logger }: EtcdPlaceOptions): EtcdPlace {
  const { endpoints, credentials } = readEndpoints(urls)
  return { client: new EtcdClient({ endpoints, credentials, tls, logger }), keys: createEtcdKeys(prefix), patienceMs }
}

export async function closingOnFailure<T>({ client }: EtcdPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await client.close()
    throw error
  }
}

export interface NewestStep {
  /** etcd's revision now. */
  readonly now: number
  /** That of the newest write by a server. */
  readonly data: number
}

export async function newestStep({ client, keys }: EtcdPlace): Promise<NewestStep> {
  const request = encodeRange({ key: keys.head })
  const answer = await client.persist(performance.now() + patienceMs, (timeoutMs) => client.call(methods.range, request, timeoutMs))
  const { revision, items } = decodeRange(answer)
  return { now: revision, data: items[0]?.modRevision ?? 0 }
}
