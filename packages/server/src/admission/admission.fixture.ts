// What tests of plugins stand on: a store in memory with every kind, objects put into it, and attempts to write that remember warnings and remarks.

import { ApiError } from '../api/api-error.js'
import { testCaller } from '../api/call.fixture.js'
import { Call, type Caller, type CallOptions } from '../api/call.js'
import { Catalog, type Resource } from '../api/catalog.js'
import { type IdentityName, identityOf } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { testContext } from '../api/rule-context.fixture.js'
import { systemClock } from '../base/clock.js'
import { ObjectStore } from '../objects/object-store.js'
import { definitions } from '../resources/index.js'
import { openMemoryStorage } from '../storage/memory.js'
import { AdmissionRequest, type Operation, type Plugin } from './admission.js'
import { type Lookup, lookupOf } from './lookup.js'

export interface Attempt {
  readonly resource: Resource
  readonly operation?: Operation
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly object?: object
  readonly old?: object
  readonly options?: CallOptions
  readonly user?: Partial<Caller['user']>
  /** Left out: all gates are open. */
  readonly gates?: (name: string) => boolean
}

export interface Stage {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly lookup: Lookup
  readonly warnings: string[]
  readonly remarks: Map<string, string>
  find(resource: string, group?: string, version?: string): Resource
  put(resource: Resource, object: object): Promise<void>
  attempt(attempt: Attempt): AdmissionRequest
}

export async function stageOf(identity: IdentityName = 'kubernetes'): Promise<Stage> {
  const catalog = new Catalog({ identity: identityOf(identity), definitions, isServed: () => true })
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 60 })
  const warnings: string[] = []
  const remarks = new Map<string, string>()
  return {
    catalog,
    store,
    lookup: lookupOf({ store, catalogs: { current: catalog } }),
    warnings,
    remarks,
    find: (resource, group = '', version = 'v1') => catalog.find(group, version, resource) as Resource,
    put: async (resource, object) => {
      const { metadata } = object as ApiObject
      const made = { ...object, metadata: { uid: metadata?.name ?? '', creationTimestamp: '2020-01-01T00:00:00Z', ...metadata } }
      const address = { resource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
      await store.put(address, store.encode(resource, made), { expect: store.read(address)?.revision ?? 0 })
    },
    attempt: ({ resource, operation = 'CREATE', object, old, user, ...more }) => {
      const caller = testCaller({
        warn: (text) => warnings.push(text),
        annotate: (key, value) => remarks.set(key, value),
        user: { name: 'somebody', uid: '', groups: [], extra: {}, ...user },
      })
      const call = new Call({ identity: catalog.identity, gates: more.gates ?? testContext().gates, forbidsPrivileged: false }, caller, {
        resource,
        namespace: more.namespace ?? (object as ApiObject | undefined)?.metadata?.namespace ?? '',
        name: more.name ?? (object as ApiObject | undefined)?.metadata?.name ?? '',
        subresource: more.subresource === undefined ? undefined : resource.subresources.get(more.subresource),
        options: more.options ?? {},
      })
      return new AdmissionRequest(call, operation, { object, old })
    },
  }
}

/** What a plugin says against an attempt; empty where it lets it pass. */
export async function refusalOf(plugin: Plugin, request: AdmissionRequest): Promise<string> {
  try {
    const mutated = await plugin.mutate?.(request)
    await plugin.validate?.(request.withObject(mutated ?? request.object))
    return ''
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown.status.message
    throw thrown
  }
}

/** The object as a plugin leaves it. */
export async function mutatedBy<T extends object = object>(plugin: Plugin, request: AdmissionRequest): Promise<T> {
  return ((await plugin.mutate?.(request)) ?? request.object) as T
}
