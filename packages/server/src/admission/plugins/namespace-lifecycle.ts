// NamespaceLifecycle, NamespaceExists and NamespaceAutoProvision plugins: writes need an existing namespace, creates an active one; system
// namespaces cannot be deleted.

import { ApiError, forbidden, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { members } from '@cluster-apiserver/api/api/object.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { refuseRequest } from '../pod-requests.js'

const maxCachedNamespaces = 10_000

export function namespaceLifecycle(options: {
  readonly store: ObjectStore
  readonly namespaces: Resource
  readonly identity: Identity
}): Plugin {
  const { store, namespaces, identity } = options
  const protectedNamespaces = new Set(['default', identity.prefixed('system'), identity.prefixed('public')])

  /** Cached per revision of the namespace. */
  const cache = new Map<string, { readonly revision: number; readonly isTerminating: boolean }>()

  function isTerminating(stored: StoredObject): boolean {
    const before = cache.get(stored.key)
    if (before?.revision === stored.revision) return before.isTerminating
    const namespace = stored.decode(namespaces)
    const phase = (members(namespace)['status'] as { phase?: string } | undefined)?.phase
    const found = namespace.metadata?.deletionTimestamp !== undefined || phase === 'Terminating'
    if (cache.size >= maxCachedNamespaces) cache.clear()
    cache.set(stored.key, { revision: stored.revision, isTerminating: found })
    return found
  }

  function check(request: AdmissionRequest): void {
    if (request.resource.collection === namespaces.collection) {
      if (request.operation === 'DELETE' && protectedNamespaces.has(request.name))
        throw forbidden(request.resource.subject, request.name, 'this namespace may not be deleted')
      return
    }
    // Access reviews may name a missing namespace.
    if (!request.resource.namespaced || request.resource.definition.review !== undefined) return
    // Objects in a namespace may always be deleted; CONNECT reports a missing object itself.
    if (request.operation === 'DELETE' || request.operation === 'CONNECT') return
    const stored = store.readCached({ resource: namespaces, namespace: '', name: request.namespace })
    if (stored === undefined) throw notFound(namespaces.subject, request.namespace)
    if (request.operation !== 'CREATE') return
    if (isTerminating(stored)) throw terminating(request)
  }

  return {
    name: 'NamespaceLifecycle',
    mutate: async (request) => {
      check(request)
      return undefined
    },
    // The namespace may be deleted while webhooks run; objects created later would never be deleted.
    recheck: check,
  }
}

function terminating(request: AdmissionRequest): ApiError {
  const why = `unable to create new content in namespace ${request.namespace} because it is being terminated`
  const { status } = refuseRequest(request, why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${request.namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError({ ...status, details: { ...status.details, causes: [cause] } })
}

export function namespaceExists(store: ObjectStore, namespaces: Resource): Plugin {
  const check = ({ namespace, operation, resource }: AdmissionRequest): void => {
    if (namespace === '' || operation === 'CONNECT' || resource.collection === namespaces.collection) return
    if (store.readCached({ resource: namespaces, namespace: '', name: namespace }) !== undefined) return
    throw notFound(namespaces.subject, namespace)
  }
  return { name: 'NamespaceExists', validate: async (request) => check(request), recheck: check }
}

interface AutoProvisionParts {
  readonly store: ObjectStore
  readonly namespaces: Resource
  readonly createNamespace: (name: string) => Promise<void>
}

export const namespaceAutoProvision = ({ store, namespaces, createNamespace }: AutoProvisionParts): Plugin => ({
  name: 'NamespaceAutoProvision',
  mutate: async (request) => {
    const { namespace, operation, resource, dryRun } = request
    if (operation !== 'CREATE' || dryRun || namespace === '' || resource.collection === namespaces.collection) return undefined
    if (store.readCached({ resource: namespaces, namespace: '', name: namespace }) !== undefined) return undefined
    try {
      await createNamespace(namespace)
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status.reason !== 'AlreadyExists') throw refuseRequest(request, thrown.status.message)
    }
    return undefined
  },
})
