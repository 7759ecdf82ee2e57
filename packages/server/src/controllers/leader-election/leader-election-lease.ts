// The Lease object of leader election, in the system namespace.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { create } from '../../verbs/create.js'
import type { Engine } from '../../verbs/engine.js'
import { update } from '../../verbs/update.js'
import { internalCall } from '../framework/internal-call.js'
import { type LeaseState, type LeaseStore, leaseMs } from './leader-election.js'

interface Lease extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

export function leaderElectionLease(engine: Engine, catalog: Catalog, name: string): LeaseStore | undefined {
  const resource = catalog.find(engine.identity.group({ stem: 'coordination' }), 'v1', 'leases')
  if (resource === undefined) return undefined
  const address = { resource, namespace: engine.identity.prefixed('system'), name }
  const stored = (): Lease | undefined => engine.store.read(address)?.decode(resource)
  return {
    read: () => stateOf(stored()),
    write: (holder, expected) => {
      const before = stored()
      // The lease has changed since the caller read it.
      if (before?.metadata?.resourceVersion !== expected?.version) return Promise.resolve(false)
      return falseOnConflict(before === undefined ? createLease(engine, address, holder) : updateLease(engine, address, { before, holder }))
    },
  }
}

interface Address {
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

function createLease(engine: Engine, address: Address, holder: string): Promise<unknown> {
  const time = microTime(engine)
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: leaseMs / 1000,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  }
  const object = { metadata: { name: address.name, namespace: address.namespace }, spec } as ApiObject
  return create(engine, internalCall(engine, address), { object })
}

function updateLease(
  engine: Engine,
  address: Address,
  { before, holder }: { readonly before: Lease; readonly holder: string },
): Promise<unknown> {
  const time = microTime(engine)
  const isNew = before.spec?.holderIdentity !== holder
  const spec = {
    ...before.spec,
    holderIdentity: holder,
    // A released lease can be acquired immediately.
    leaseDurationSeconds: holder === '' ? 1 : leaseMs / 1000,
    renewTime: time,
    ...(isNew && holder !== '' ? { acquireTime: time, leaseTransitions: (before.spec?.leaseTransitions ?? 0) + 1 } : {}),
  }
  return update(engine, internalCall(engine, address), { object: { ...before, spec } as ApiObject })
}

const microTime = ({ clock }: Engine): string => new Date(clock.now()).toISOString().replace('Z', '000Z')

async function falseOnConflict(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (thrown) {
    if (thrown instanceof ApiError && [404, 409].includes(thrown.status.code)) return false
    throw thrown
  }
}
