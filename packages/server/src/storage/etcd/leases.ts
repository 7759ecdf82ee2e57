// Leases for keys that shall not last. A lease costs etcd more than a key, so keys that expire at about the same time share one.

import type { Clock } from '../../base/clock.js'
import type { EtcdClient } from './etcd-client.js'
import { decodeLeaseGrant, encodeLeaseGrant, methods } from './messages.js'
import { commitsPerStep } from './numbering.js'

export interface LeasesOptions {
  readonly client: Pick<EtcdClient, 'call'>
  readonly clock: Clock
  /** Keys may live this much longer for the sake of sharing, and never more than a twentieth of their time. */
  readonly reuseMs: number
}

export interface Leases {
  /** One attempt at a lease that ends at the time or a little after; rejects with a GrpcError. */
  leaseUntil(expiresAtMs: number, timeoutMs: number): Promise<bigint>
  /** A lease of one's own. */
  grant(lifeMs: number, timeoutMs: number): Promise<bigint>
  /** etcd does not know one of them any more. */
  forget(): void
}

interface SharedLease {
  readonly id: bigint
  /** In terms of performance.now(), because the clock may be moved. */
  readonly endsMs: number
  uses: number
}

/** When a lease ends, its keys go in one step of etcd, which has this many revisions. */
const mostKeys = commitsPerStep - 6
const mostLeases = 1000

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
      const known = shared.get(roundedMs)
      const canShare = known !== undefined && known.uses < mostKeys && known.endsMs - performance.now() >= lifeMs
      const lease = canShare ? known : await grant(lifeMs + roundedMs - expiresAtMs, timeoutMs)
      lease.uses += 1
      // The newest is the last.
      shared.delete(roundedMs)
      shared.set(roundedMs, lease)
      for (const oldest of shared.keys()) {
        if (shared.size <= mostLeases) break
        shared.delete(oldest)
      }
      return lease.id
    },
    grant: async (lifeMs, timeoutMs) => (await grant(lifeMs, timeoutMs)).id,
    forget: () => shared.clear(),
  }
}
