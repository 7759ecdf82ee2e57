// What stands in etcd about who may write and who answers reads, as etcd itself says.

import { silentLogger } from '../../src/base/logger.js'
import { readEndpoints } from '../../src/storage/etcd/endpoint.js'
import { EtcdClient } from '../../src/storage/etcd/etcd-client.js'
import { createEtcdKeys } from '../../src/storage/etcd/etcd-keys.js'
import { decodeRange, encodeRange, methods } from '../../src/storage/etcd/messages.js'

export interface HeadKeys {
  /** Empty: nobody. */
  readonly owner: string
  readonly readers: readonly string[]
}

export const noOwnerAndNoReaders: HeadKeys = { owner: '', readers: [] }

/** A client of its own, to look at etcd beside the replicas. */
export class HeadWatch {
  readonly client: EtcdClient

  constructor(endpoints: readonly string[]) {
    this.client = new EtcdClient({ ...readEndpoints(endpoints), tls: {}, logger: silentLogger })
  }

  async keysOf(prefix: string): Promise<HeadKeys> {
    const keys = createEtcdKeys(prefix)
    const question = encodeRange({ key: keys.head, end: keys.headEnd })
    const { items } = await this.client.persist(performance.now() + 20_000, async (timeoutMs) =>
      decodeRange(await this.client.call(methods.range, question, timeoutMs)),
    )
    const owner = items.find(({ key }) => keys.kindOf(key) === 'owner')?.value.toString() ?? ''
    const readers = items.filter(({ key }) => keys.kindOf(key) === 'reader').map(({ key }) => key.toString().slice(keys.reader('').length))
    return { owner, readers }
  }

  close(): Promise<void> {
    return this.client.close()
  }
}
