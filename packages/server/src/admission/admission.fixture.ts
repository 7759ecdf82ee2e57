// Fixture for plugin tests: an in-memory store with every kind, and admission requests that collect warnings and audit annotations.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { testCaller } from '@cluster-apiserver/api/api/call.fixture.js'
import { Call, type Caller, type CallOptions } from '@cluster-apiserver/api/api/call.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type IdentityName, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { testContext } from '@cluster-apiserver/api/api/rule-context.fixture.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { ObjectStore } from '../objects/object-store.js'
import { openMemoryStorage } from '../storage/memory/memory-storage.js'
import { AdmissionRequest, type Plugin } from './admission-plugin.js'
import { type Lookup, lookupOf } from './lookup.js'

export interface RequestInput {
  readonly resource: Resource
  readonly operation?: Operation
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly object?: object
  readonly old?: object
  readonly options?: CallOptions
  readonly user?: Partial<Caller['user']>
  readonly gates?: (name: string) => boolean
}

export interface AdmissionFixture {
  readonly catalog: Catalog
  readonly store: ObjectStore
  readonly lookup: Lookup
  readonly warnings: string[]
  readonly annotations: Map<string, string>
  find(resource: string, group?: string, version?: string): Resource
  put(resource: Resource, object: object): Promise<void>
  request(input: RequestInput): AdmissionRequest
}

export async function admissionFixture(identity: IdentityName = 'kubernetes'): Promise<AdmissionFixture> {
  const catalog = new Catalog({ identity: identityOf(identity), definitions, isServed: () => true })
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 0, eventTtlSeconds: 60 })
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  return {
    catalog,
    store,
    lookup: lookupOf({ store, catalogs: { current: catalog } }),
    warnings,
    annotations,
    find: (resource, group = '', version = 'v1') => catalog.find(group, version, resource) as Resource,
    put: async (resource, object) => {
      const { metadata } = object as ApiObject
      const complete = { ...object, metadata: { uid: metadata?.name ?? '', creationTimestamp: '2020-01-01T00:00:00Z', ...metadata } }
      const address = { resource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
      await store.put(address, store.encode(resource, complete), { expect: store.read(address)?.revision ?? 0 })
    },
    request: ({ resource, operation = 'CREATE', object, old, user, ...more }) => {
      const caller = testCaller({
        warn: (text) => warnings.push(text),
        annotate: (key, value) => annotations.set(key, value),
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

/** Message of the rejection; empty if the request is admitted. */
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

export async function mutatedBy<T extends object = object>(plugin: Plugin, request: AdmissionRequest): Promise<T> {
  return ((await plugin.mutate?.(request)) ?? request.object) as T
}
