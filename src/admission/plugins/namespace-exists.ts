// Objects are written only in namespaces that exist; for servers that do not run NamespaceLifecycle.

import { notFound } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { AdmissionRequest, Plugin } from '../admission.js'

export function namespaceExists(store: ObjectStore, namespaces: Resource): Plugin {
  const check = ({ namespace, operation, resource }: AdmissionRequest): void => {
    if (namespace === '' || operation === 'CONNECT' || resource.collection === namespaces.collection) return
    if (store.readOften({ resource: namespaces, namespace: '', name: namespace }) !== undefined) return
    throw notFound(namespaces.subject, namespace)
  }
  return { name: 'NamespaceExists', validate: check, recheck: check }
}
