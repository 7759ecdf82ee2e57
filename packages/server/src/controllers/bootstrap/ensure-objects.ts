// Puts into the store what a fresh server has to begin with, and at later starts what became of it into order. These objects are constants
// that tests hold against the rules of their kinds, so they go to the store without asking admission: hundreds in a few milliseconds.

import { ApiError } from '../../api/api-error.js'
import type { Call } from '../../api/call.js'
import type { Catalog } from '../../api/catalog.js'
import { type ApiObject, type ObjectMeta, withMetadata } from '../../api/object.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { timeOf } from '../../schema/scalars.js'
import { create } from '../../verbs/create.js'
import { addressOf, type Engine } from '../../verbs/engine.js'
import { trackCreate } from '../../verbs/managed-fields.js'
import { update } from '../../verbs/update.js'
import { fromStored, toStored, withDefaults } from '../../verbs/versions.js'
import { ownCall } from '../own-call.js'
import type { Wanted } from './wanted.js'

/** Who owns the fields of a new object, by kind and shape. */
type Owners = Map<string, ObjectMeta['managedFields']>

interface Placing extends Wanted {
  readonly owners: Owners
}

/** Those that are missing are made, all in one commit; those that are there are reconciled. A kind that is not served is left out. */
export async function placeAll(engine: Engine, catalog: Catalog, all: readonly Wanted[]): Promise<void> {
  const owners: Owners = new Map()
  await Promise.all(all.map((wanted) => place(engine, catalog, { ...wanted, owners })))
}

/** The same through the front door, for what takes an address or is watched over by admission. */
export async function createMissing(engine: Engine, catalog: Catalog, all: readonly Wanted[]): Promise<void> {
  await Promise.all(
    all.map(async (wanted) => {
      const call = callFor(engine, catalog, wanted)
      if (call === undefined || engine.store.read(addressOf(call)) !== undefined) return
      try {
        await create(engine, call, { object: withDefaults(call, wanted.object) })
      } catch (thrown) {
        // Another replica was quicker, and that is just as well: the object is there, or what it wanted to have is taken by it.
        if (engine.store.read(addressOf(call)) === undefined) throw thrown
      }
    }),
  )
}

function callFor(engine: Engine, catalog: Catalog, { group, version, resource, namespace, object }: Wanted): Call | undefined {
  const found = catalog.find(engine.identity.group(group), version, resource)
  return found && ownCall(engine, { resource: found, namespace: namespace ?? '', name: object.metadata?.name ?? '' })
}

async function place(engine: Engine, catalog: Catalog, wanted: Placing): Promise<void> {
  const call = callFor(engine, catalog, wanted)
  if (call === undefined) return
  const stored = engine.store.read(addressOf(call))
  const fresh = withDefaults(call, wanted.object)
  const make = (): Promise<unknown> => {
    const object = asNew(engine, call, { ...wanted, object: fresh })
    return engine.store.put(addressOf(call), engine.store.encode(call.resource, object), { expect: 0 })
  }
  if (stored === undefined) {
    await make()
    return
  }
  if (wanted.reconcile === undefined) return
  const live = fromStored(call, stored.decode(call.resource))
  if (wanted.isOutlived?.(live, fresh)) {
    await engine.store.remove(stored)
    await make()
    return
  }
  const next = wanted.reconcile(live, fresh)
  if (next === live) return
  const sent = withMetadata(next, { managedFields: undefined, resourceVersion: stored.resourceVersion })
  try {
    await update(engine, call.with({ options: managerOptions(wanted) }), { object: sent })
  } catch (thrown) {
    // Another replica was quicker, and wants the same.
    if (!(thrown instanceof ApiError) || thrown.status.reason !== 'Conflict') throw thrown
  }
}

const managerOptions = ({ fieldManager }: Wanted): { readonly fieldManager?: string } =>
  fieldManager === undefined ? {} : { fieldManager }

function asNew(engine: Engine, call: Call, wanted: Placing): ApiObject {
  const sent = call.namespace === '' ? wanted.object : withMetadata(wanted.object, { namespace: call.namespace })
  const managedFields = ownersOf(call, sent, wanted)
  const stamped = withMetadata(toStored(call, sent), { uid: engine.newUid(), creationTimestamp: timeOf(call.now), managedFields })
  const prepared = call.resource.definition.prepareCreate?.(stamped, call) ?? stamped
  return wanted.status === undefined ? prepared : withStatus(call, prepared, wanted.status)
}

function ownersOf(call: Call, sent: ApiObject, { owners, ...wanted }: Placing): ObjectMeta['managedFields'] {
  const track = (): ObjectMeta['managedFields'] => trackCreate(call.with({ options: managerOptions(wanted) }), sent).metadata?.managedFields
  return wanted.shape === undefined ? track() : getOrInsert(owners, `${wanted.resource} ${wanted.shape}`, track)
}

function withStatus(call: Call, object: ApiObject, { value, fieldManager, fields }: NonNullable<Wanted['status']>): ApiObject {
  const entry = {
    manager: fieldManager,
    operation: 'Apply',
    apiVersion: call.resource.apiVersion,
    time: timeOf(call.now),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    subresource: 'status',
  }
  return withMetadata({ ...object, status: value } as ApiObject, { managedFields: [entry, ...(object.metadata?.managedFields ?? [])] })
}
