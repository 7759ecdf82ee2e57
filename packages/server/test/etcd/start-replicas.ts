// Whole servers on one etcd, inside the test's own process, with a client for each.

import { startServer } from 'cluster-apiserver'
import type { ApiClient } from '../kit/api-client.js'
import { clientOf, type Embedded } from '../kit/embedded.js'

export interface ReplicasOptions {
  readonly servers: readonly string[]
  readonly prefix: string
  readonly count: number
  readonly flags?: readonly string[]
  /** Addresses for the last replica; left out: the same as for the others. */
  readonly far?: readonly string[]
}

export async function startReplica(options: Omit<ReplicasOptions, 'count' | 'far'>): Promise<Embedded> {
  const { servers, prefix, flags = [] } = options
  const server = await startServer({ etcd: { servers, prefix }, flags })
  const client = clientOf(server)
  return {
    server,
    client,
    close: async () => {
      client.close()
      await server.close({ immediately: true })
    },
  }
}

export class Replicas {
  readonly all: readonly Embedded[]
  #turn = 0

  private constructor(all: readonly Embedded[]) {
    this.all = all
  }

  /** All of them at once. */
  static async start(options: ReplicasOptions): Promise<Replicas> {
    const { servers, far = servers, count } = options
    const starts = await Promise.allSettled(
      Array.from({ length: count }, (_, index) => startReplica({ ...options, servers: index === count - 1 ? far : servers })),
    )
    const replicas = new Replicas(starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])))
    const failed = starts.find((start) => start.status === 'rejected')
    if (failed === undefined) return replicas
    await replicas.close()
    throw failed.reason
  }

  /** Another one with every call. */
  get next(): ApiClient {
    this.#turn += 1
    return this.client(this.#turn)
  }

  client(index: number): ApiClient {
    return (this.all[index % this.all.length] as Embedded).client
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((each) => each.close()))
  }
}
