// Deletes expired identity leases of API servers.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { partsOf } from '../../objects/object-keys.js'
import { remove } from '../../verbs/delete.js'
import { type ControllerParts, KeyedController } from '../framework/controller.js'
import { ignoreErrors, internalCall, notFoundOrConflict } from '../framework/internal-call.js'
import type { Outcome } from '../framework/work-queue.js'
import type { Controller } from '../leader-election/leader-election.js'

/** Tolerates late renewals and clock skew. */
const graceMs = 60_000

interface Lease extends ApiObject {
  readonly spec?: { readonly leaseDurationSeconds?: number; readonly renewTime?: string }
}

export const expiredApiServerLeases = (parts: ControllerParts): Controller => {
  const { identity } = parts.engine
  return new KeyedController(parts, {
    name: 'identity_lease_garbage_collector',
    sources: () => {
      const resource = leasesOf(parts)
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: identity.prefixed('system'),
          matches: (lease) => lease.labels()?.[`${identity.groupSuffix}/component`] === identity.prefixed('apiserver'),
          keyOf: ({ key }, eventType) => (eventType === 'DELETED' ? undefined : partsOf(resource, key).name),
        },
      ]
    },
    work: (name) => deleteExpired(parts, name),
  })
}

const leasesOf = ({ engine, catalogs }: ControllerParts) =>
  catalogs.current.find(engine.identity.group({ stem: 'coordination' }), 'v1', 'leases')

async function deleteExpired(parts: ControllerParts, name: string): Promise<Outcome> {
  const { engine } = parts
  const resource = leasesOf(parts)
  const namespace = engine.identity.prefixed('system')
  const lease = resource && (engine.store.read({ resource, namespace, name })?.decode(resource) as Lease | undefined)
  if (resource === undefined || lease === undefined) return undefined
  const remainingMs = expiryOf(lease) + graceMs - engine.clock.now()
  if (remainingMs > 0) return { afterMs: timerMs(remainingMs) }
  const { uid = '', resourceVersion = '' } = lease.metadata ?? {}
  await ignoreErrors(
    notFoundOrConflict,
    remove(engine, internalCall(engine, { resource, namespace, name, options: { preconditions: { uid, resourceVersion } } })),
  )
  return undefined
}

/** A lease without a duration expires at its last renewal; the creation counts if it was never renewed. */
function expiryOf({ metadata, spec: { leaseDurationSeconds = 0, renewTime } = {} }: Lease): number {
  return Date.parse(renewTime ?? metadata?.creationTimestamp ?? '') + leaseDurationSeconds * 1000
}
