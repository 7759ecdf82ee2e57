// etcd leases for keys that expire. Leases are expensive, so keys that expire at about the same time share one.

import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import type { EtcdClient } from './etcd-client.js'
import { decodeLeaseGrant, encodeLeaseGrant, methods } from './grpc/etcd-messages.js'
import { commitsPerStep } from './revision-numbering.js'

interface LeasesOptions {
  readonly client: Pick<EtcdClient, 'call'>
  readonly clock: Clock
  /** Keys may live this much longer so that they share a lease, but at most a twentieth of their lifetime. */
  readonly reuseMs: number
}

export interface Leases {
  /** A lease that ends at that time or a little later; rejects with a GrpcError. */
  leaseUntil(expiresAtMs: number, timeoutMs: number): Promise<bigint>
  grant(lifeMs: number, timeoutMs: number): Promise<bigint>
  forget(): void
}

interface SharedLease {
  readonly id: bigint
  /** By performance.now(), because the system clock may be moved. */
  readonly endsMs: number
  uses: number
}

/** All keys of a lease expire in one step (revision of etcd), which has `commitsPerStep` revisions. */
const maxKeysPerLease = commitsPerStep - 6
const maxLeases = 1000

export function createLeases({ client, clock, reuseMs }: LeasesOptions): Leases {
  const shared = new Map<number, SharedLease>()

  const grant = async (lifeMs: number, timeoutMs: number): Promise<SharedLease> => {
    const seconds = Math.max(1, Math.ceil(lifeMs / 1000))
    const id = decodeLeaseGrant(await client.call(methods.leaseGrant, encodeLeaseGrant(seconds), timeoutMs))
    return { id, endsMs: performance.now() + seconds * 1000, uses: 0 }
  }

  return {
    async leaseUntil(expiresAtMs, timeoutMs) {
      const lifeMs = Math.max(1, expiresAtMs - clock.now())
      const slackMs = Math.max(1, Math.min(reuseMs, lifeMs / 20))
      const roundedMs = Math.ceil(expiresAtMs / slackMs) * slackMs
      const existing = shared.get(roundedMs)
      const canShare = existing !== undefined && existing.uses < maxKeysPerLease && existing.endsMs - performance.now() >= lifeMs
      const lease = canShare ? existing : await grant(lifeMs + roundedMs - expiresAtMs, timeoutMs)
      lease.uses += 1
      shared.delete(roundedMs)
      shared.set(roundedMs, lease)
      for (const oldest of shared.keys()) {
        if (shared.size <= maxLeases) break
        shared.delete(oldest)
      }
      return lease.id
    },
    grant: async (lifeMs, timeoutMs) => (await grant(lifeMs, timeoutMs)).id,
    forget: () => shared.clear(),
  }
}
