// Creates and reconciles default objects. Most are tested constants, created without admission: hundreds take a few milliseconds.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, type ObjectMeta, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { create } from '../../verbs/create.js'
import { addressOf, committed, type Engine } from '../../verbs/engine.js'
import { trackCreate } from '../../verbs/managed-fields.js'
import { update } from '../../verbs/update.js'
import { fromStored, toStored, withDefaults } from '../../verbs/version-conversion.js'
import { internalCall } from '../framework/internal-call.js'

type ManagedFieldsByShape = Map<string, ObjectMeta['managedFields']>

interface EnsuredObject extends WantedObject {
  readonly byShape: ManagedFieldsByShape
}

/** Creates missing objects and reconciles existing ones, concurrently, so that writes share commits. Skips kinds that are not served. */
export async function ensureObjects(engine: Engine, catalog: Catalog, all: readonly WantedObject[]): Promise<void> {
  const byShape: ManagedFieldsByShape = new Map()
  await Promise.all(all.map((wanted) => ensureObject(engine, catalog, { ...wanted, byShape })))
}

/** Creates missing objects with admission: for objects that need it, or need an allocated address. */
export async function createMissing(engine: Engine, catalog: Catalog, all: readonly WantedObject[]): Promise<void> {
  await Promise.all(
    all.map(async (wanted) => {
      const call = callFor(engine, catalog, wanted)
      if (call === undefined || engine.store.read(addressOf(call)) !== undefined) return
      try {
        await create(engine, call, { object: withDefaults(call, wanted.object) })
      } catch (thrown) {
        // Another replica may have created it meanwhile.
        if (engine.store.read(addressOf(call)) === undefined) throw thrown
      }
    }),
  )
}

function callFor(engine: Engine, catalog: Catalog, { group, version, resource, namespace, object }: WantedObject): Call | undefined {
  const found = catalog.find(engine.identity.group(group), version, resource)
  return found && internalCall(engine, { resource: found, namespace: namespace ?? '', name: object.metadata?.name ?? '' })
}

async function ensureObject(engine: Engine, catalog: Catalog, wanted: EnsuredObject): Promise<void> {
  const call = callFor(engine, catalog, wanted)
  if (call === undefined) return
  const stored = engine.store.read(addressOf(call))
  const desired = withDefaults(call, wanted.object)
  const createObject = (): Promise<unknown> => {
    const object = newObject(engine, call, { ...wanted, object: desired })
    return committed(engine, call, engine.store.put(addressOf(call), engine.store.encode(call.resource, object), { expect: 0 }))
  }
  if (stored === undefined) {
    await createObject()
    return
  }
  if (wanted.reconcile === undefined) return
  const live = fromStored(call, stored.decode(call.resource))
  if (wanted.mustRecreate?.(live, desired)) {
    await committed(engine, call, engine.store.remove(stored))
    await createObject()
    return
  }
  const next = wanted.reconcile(live, desired)
  if (next === live) return
  const sent = withMetadata(next, { managedFields: undefined, resourceVersion: stored.resourceVersion })
  try {
    await update(engine, call.with({ options: managerOptions(wanted) }), { object: sent })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.reason !== 'Conflict') throw thrown
  }
}

const managerOptions = ({ fieldManager }: WantedObject): { readonly fieldManager?: string } =>
  fieldManager === undefined ? {} : { fieldManager }

function newObject(engine: Engine, call: Call, wanted: EnsuredObject): ApiObject {
  const sent = call.namespace === '' ? wanted.object : withMetadata(wanted.object, { namespace: call.namespace })
  const managedFields = managedFieldsOf(call, sent, wanted)
  const stamped = withMetadata(toStored(call, sent), { uid: engine.newUid(), creationTimestamp: timeOf(call.now), managedFields })
  const prepared = call.resource.definition.prepareCreate?.(stamped, call) ?? stamped
  return wanted.status === undefined ? prepared : withStatus(call, prepared, wanted.status)
}

function managedFieldsOf(call: Call, sent: ApiObject, { byShape, ...wanted }: EnsuredObject): ObjectMeta['managedFields'] {
  const track = (): ObjectMeta['managedFields'] => trackCreate(call.with({ options: managerOptions(wanted) }), sent).metadata?.managedFields
  return wanted.shape === undefined ? track() : getOrInsert(byShape, `${wanted.resource} ${wanted.shape}`, track)
}

function withStatus(call: Call, object: ApiObject, { value, fieldManager, fields }: NonNullable<WantedObject['status']>): ApiObject {
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

export interface WantedObject<T extends ApiObject = ApiObject> {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
  readonly namespace?: string
  readonly object: T
  /** Objects of one resource and shape have the same managedFields, which are computed once. */
  readonly shape?: string
  readonly fieldManager?: string
  readonly status?: { readonly value: object; readonly fieldManager: string; readonly fields: object }
  /** True if an immutable field differs: the object is deleted and created again. */
  readonly mustRecreate?: (stored: T, wanted: T) => boolean
  /** Returns `stored` if nothing is to be changed. Undefined: an existing object is never changed. */
  readonly reconcile?: (stored: T, wanted: T) => T
}
