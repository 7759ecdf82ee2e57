// The lease of an election as an object that everybody can see: a Lease in the system's namespace.

import { ApiError } from '../api/api-error.js'
import type { Catalog, Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { create } from '../verbs/create.js'
import type { Engine } from '../verbs/engine.js'
import { update } from '../verbs/update.js'
import { type LeaseKeeper, type LeaseState, leaseMs } from './leader-election.js'
import { ownCall } from './own-call.js'

interface Lease extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

/** Undefined where leases are not served. */
export function electionLease(engine: Engine, catalog: Catalog, name: string): LeaseKeeper | undefined {
  const resource = catalog.find(engine.identity.group({ stem: 'coordination' }), 'v1', 'leases')
  if (resource === undefined) return undefined
  const place = { resource, namespace: engine.identity.prefixed('system'), name }
  const stored = (): Lease | undefined => engine.store.read(place)?.decode(resource)
  return {
    read: () => stateOf(stored()),
    write: (holder, seen) => {
      const before = stored()
      // What is written is what was seen, with a new holder: not what somebody else has made of it since.
      if (before?.metadata?.resourceVersion !== seen?.version) return Promise.resolve(false)
      return unlessBeaten(before === undefined ? make(engine, place, holder) : replace(engine, place, { before, holder }))
    },
  }
}

interface Place {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

function stateOf(lease: Lease | undefined): LeaseState | undefined {
  if (lease === undefined) return undefined
  const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {}
  const durationMs = leaseDurationSeconds === undefined ? leaseMs : leaseDurationSeconds * 1000
  return { version: lease.metadata?.resourceVersion ?? '', holder: holderIdentity, durationMs }
}

function make(engine: Engine, place: Place, holder: string): Promise<unknown> {
  const time = microTime(engine)
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: leaseMs / 1000,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  }
  const object = { metadata: { name: place.name, namespace: place.namespace }, spec } as ApiObject
  return create(engine, ownCall(engine, place), { object })
}

function replace(engine: Engine, place: Place, { before, holder }: { readonly before: Lease; readonly holder: string }): Promise<unknown> {
  const time = microTime(engine)
  const isNew = before.spec?.holderIdentity !== holder
  const spec = {
    ...before.spec,
    holderIdentity: holder,
    // Nobody has to wait for the end of a lease that was given back.
    leaseDurationSeconds: holder === '' ? 1 : leaseMs / 1000,
    renewTime: time,
    ...(isNew && holder !== '' ? { acquireTime: time, leaseTransitions: (before.spec?.leaseTransitions ?? 0) + 1 } : {}),
  }
  return update(engine, ownCall(engine, place), { object: { ...before, spec } as ApiObject })
}

const microTime = ({ clock }: Engine): string => new Date(clock.now()).toISOString().replace('Z', '000Z')

/** Whether the write was stored; false when somebody else was quicker. */
async function unlessBeaten(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (thrown) {
    if (thrown instanceof ApiError && [404, 409].includes(thrown.status.code)) return false
    throw thrown
  }
}
