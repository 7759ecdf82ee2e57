// Objects live only in namespaces that exist and are not going away, and the system's own namespaces are not deleted.

import { ApiError, forbidden, notFound } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { members } from '../../api/object.js'
import { leanObject } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { StoredObject } from '../../objects/stored-object.js'
import type { AdmissionRequest, Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

const mostRemembered = 10_000

export function namespaceLifecycle(options: {
  readonly store: ObjectStore
  readonly namespaces: Resource
  readonly identity: Identity
}): Plugin {
  const { store, namespaces, identity } = options
  const immortal = new Set(['default', identity.prefixed('system'), identity.prefixed('public')])

  /** What was found out about a namespace holds until it is written again. */
  const known = new Map<string, { readonly revision: number; readonly isTerminating: boolean }>()

  function isTerminating(stored: StoredObject): boolean {
    const before = known.get(stored.key)
    if (before?.revision === stored.revision) return before.isTerminating
    const namespace = leanObject(stored, namespaces)
    const phase = (members(namespace)['status'] as { phase?: string } | undefined)?.phase
    const found = namespace.metadata?.deletionTimestamp !== undefined || phase === 'Terminating'
    if (known.size >= mostRemembered) known.clear()
    known.set(stored.key, { revision: stored.revision, isTerminating: found })
    return found
  }

  function check(request: AdmissionRequest): void {
    if (request.resource.collection === namespaces.collection) {
      if (request.operation === 'DELETE' && immortal.has(request.name))
        throw forbidden(request.resource.subject, request.name, 'this namespace may not be deleted')
      return
    }
    // Whoever asks what they may do in a namespace is answered, whether it is there or not.
    if (!request.resource.namespaced || request.resource.definition.review !== undefined) return
    // What goes may always go, and whoever connects to something that is not there is told so.
    if (request.operation === 'DELETE' || request.operation === 'CONNECT') return
    const stored = store.readOften({ resource: namespaces, namespace: '', name: request.namespace })
    if (stored === undefined) throw notFound(namespaces.subject, request.namespace)
    if (request.operation !== 'CREATE') return
    if (isTerminating(stored)) throw terminating(request)
  }

  return {
    name: 'NamespaceLifecycle',
    mutate: (request) => {
      check(request)
      return undefined
    },
    // It may have gone while hooks were asked: nobody would ever delete what came afterwards.
    recheck: check,
  }
}

function terminating(request: AdmissionRequest): ApiError {
  const why = `unable to create new content in namespace ${request.namespace} because it is being terminated`
  const { status } = forbidden(request.resource.subject, refusedName(request), why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${request.namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError({ ...status, details: { ...status.details, causes: [cause] } })
}
