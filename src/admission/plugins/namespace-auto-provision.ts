// The first object in a namespace makes the namespace.

import { ApiError, forbidden } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Plugin } from '../admission.js'
import { refusedName } from '../pods.js'

export interface AutoProvisionParts {
  readonly store: ObjectStore
  readonly namespaces: Resource
  /** As the server itself, through everything that a new namespace goes through. */
  readonly createNamespace: (name: string) => Promise<void>
}

export const namespaceAutoProvision = ({ store, namespaces, createNamespace }: AutoProvisionParts): Plugin => ({
  name: 'NamespaceAutoProvision',
  mutate: (request) => {
    const { namespace, operation, resource, dryRun } = request
    if (operation !== 'CREATE' || dryRun || namespace === '' || resource.collection === namespaces.collection) return undefined
    if (store.readOften({ resource: namespaces, namespace: '', name: namespace }) !== undefined) return undefined
    return createNamespace(namespace).then(
      () => undefined,
      (thrown: unknown) => {
        if (!(thrown instanceof ApiError)) throw thrown
        if (thrown.status.reason === 'AlreadyExists') return undefined
        throw forbidden(resource.subject, refusedName(request), thrown.status.message)
      },
    )
  },
})
