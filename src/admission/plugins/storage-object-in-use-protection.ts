// Volumes and claims stay while they are used: whoever watches their use takes the finalizer away.

import { withMetadata } from '../../api/object.js'
import type { Plugin } from '../admission.js'

const finalizers: { readonly [collection: string]: string } = {
  persistentvolumes: 'pv-protection',
  persistentvolumeclaims: 'pvc-protection',
}

export const storageObjectInUseProtection: Plugin = {
  name: 'StorageObjectInUseProtection',
  collections: ['persistentvolumes', 'persistentvolumeclaims'],
  mutate: ({ operation, resource, subresource, object, identity }) => {
    const word = finalizers[resource.collection]
    if (word === undefined || operation !== 'CREATE' || subresource !== '' || object === undefined) return object
    const finalizer = identity.label(word)
    const present = object.metadata?.finalizers ?? []
    return present.includes(finalizer) ? object : withMetadata(object, { finalizers: [...present, finalizer] })
  },
}
