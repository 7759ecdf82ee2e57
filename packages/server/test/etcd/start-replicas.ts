// Starts whole servers on one etcd inside the test process, with a client for each.

import { startServer } from 'cluster-apiserver'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { clientOf, type Embedded } from '../../../../test/kit/embedded.js'

interface ReplicasOptions {
  readonly servers: readonly string[]
  readonly prefix: string
  readonly count: number
  readonly flags?: readonly string[]
  /** etcd endpoints of the last replica; default: `servers`. */
  readonly lastReplicaServers?: readonly string[]
}

export async function startReplica(options: Omit<ReplicasOptions, 'count' | 'lastReplicaServers'>): Promise<Embedded> {
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
  #lastIndex = 0

  private constructor(all: readonly Embedded[]) {
    this.all = all
  }

  /** Starts all replicas concurrently; if one fails, closes the others and throws. */
  static async start(options: ReplicasOptions): Promise<Replicas> {
    const { servers, lastReplicaServers = servers, count } = options
    const starts = await Promise.allSettled(
      Array.from({ length: count }, (_, index) =>
        startReplica({ ...options, servers: index === count - 1 ? lastReplicaServers : servers }),
      ),
    )
    const replicas = new Replicas(starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])))
    const failed = starts.find((start) => start.status === 'rejected')
    if (failed === undefined) return replicas
    await replicas.close()
    throw failed.reason
  }

  /** Client of the next replica, in round-robin order. */
  get next(): ApiClient {
    this.#lastIndex += 1
    return this.client(this.#lastIndex)
  }

  client(index: number): ApiClient {
    return (this.all[index % this.all.length] as Embedded).client
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((each) => each.close()))
  }
}
