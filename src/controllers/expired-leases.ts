// The leases of servers that are gone and did not come back are deleted.

import { ApiError } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import { timerMs } from '../base/clock.js'
import { partsOf } from '../objects/keys.js'
import { remove } from '../verbs/delete.js'
import type { Outcome } from './kit/keyed-queue.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'
import { ownCall } from './own-call.js'

/** For servers that are slow to renew, and clocks that do not agree. */
const graceMs = 60_000

interface Lease extends ApiObject {
  readonly spec?: { readonly leaseDurationSeconds?: number; readonly renewTime?: string }
}

export const expiredLeases = (parts: LoopParts): Loop => {
  const { identity } = parts.engine
  return new KeyedLoop(parts, {
    name: 'identity_lease_garbage_collector',
    sources: () => {
      const resource = leasesOf(parts)
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: identity.prefixed('system'),
          matches: (lease) => lease.labels()?.[`${identity.groupSuffix}/component`] === identity.prefixed('apiserver'),
          keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : partsOf(resource, key).name),
        },
      ]
    },
    work: (name) => deleteWhenOver(parts, name),
  })
}

const leasesOf = ({ engine, catalogs }: LoopParts) => catalogs.current.find(engine.identity.group({ stem: 'coordination' }), 'v1', 'leases')

async function deleteWhenOver(parts: LoopParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = leasesOf(parts)
  const namespace = engine.identity.prefixed('system')
  const lease = resource && (engine.store.read({ resource, namespace, name })?.decode(resource) as Lease | undefined)
  if (resource === undefined || lease === undefined) return undefined
  const leftMs = endOf(lease) + graceMs - engine.clock.now()
  if (leftMs > 0) return { afterMs: timerMs(leftMs) }
  const { uid = '', resourceVersion = '' } = lease.metadata ?? {}
  try {
    await remove(engine, ownCall(engine, { resource, namespace, name, options: { preconditions: { uid, resourceVersion } } }))
  } catch (thrown) {
    // It was renewed or deleted, of which the loop hears.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
  return undefined
}

/** One that does not say when it ends has ended when it was made. */
function endOf({ metadata, spec: { leaseDurationSeconds = 0, renewTime } = {} }: Lease): number {
  return Date.parse(renewTime ?? metadata?.creationTimestamp ?? '') + leaseDurationSeconds * 1000
}
