// Objects are written only in namespaces that exist; for servers that do not run NamespaceLifecycle.

import { notFound } from '../../api/api-error.js'
import type { Resource } from '../../api/catalog.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Plugin } from '../admission.js'

export const namespaceExists = (store: ObjectStore, namespaces: Resource): Plugin => ({
  name: 'NamespaceExists',
  validate: ({ namespace, operation, resource }) => {
    if (namespace === '' || operation === 'CONNECT' || resource.collection === namespaces.collection) return
    if (store.readOften({ resource: namespaces, namespace: '', name: namespace }) !== undefined) return
    throw notFound(namespaces.subject, namespace)
  },
})
