// A claim grows only where its class says that volumes can.

import { forbidden } from '../../api/api-error.js'
import type { ApiObject } from '../../api/object.js'
import { compareQuantities, parseQuantity } from '../../schema/quantity.js'
import type { Plugin } from '../admission.js'
import type { Lookup } from '../lookup.js'

interface Claim extends ApiObject {
  readonly spec?: {
    readonly storageClassName?: string
    readonly resources?: { readonly requests?: { readonly [resource: string]: string } }
  }
}

interface StorageClass extends ApiObject {
  readonly allowVolumeExpansion?: boolean
}

const classes = { group: { stem: 'storage' }, version: 'v1', resource: 'storageclasses' }

export const persistentVolumeClaimResize = (lookup: Lookup): Plugin => ({
  name: 'PersistentVolumeClaimResize',
  collections: ['persistentvolumeclaims'],
  validate: (request) => {
    if (request.resource.collection !== 'persistentvolumeclaims' || request.operation !== 'UPDATE' || request.subresource !== '') return
    const [next, old] = [request.object as Claim | undefined, request.old as Claim | undefined]
    const [wanted, had] = [sizeOf(next), sizeOf(old)]
    if (wanted === undefined || had === undefined || compareQuantities(wanted, had) <= 0) return
    const className =
      old?.metadata?.annotations?.[request.identity.label('storage-class', 'volume.beta')] ?? old?.spec?.storageClassName ?? ''
    const found = className === '' ? undefined : lookup.read<StorageClass>(classes, { name: className })
    if (found?.allowVolumeExpansion) return
    throw forbidden(
      request.resource.subject,
      request.name,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
})

function sizeOf(claim: Claim | undefined): ReturnType<typeof parseQuantity> | undefined {
  const text = claim?.spec?.resources?.requests?.['storage']
  return text === undefined ? undefined : parseQuantity(text)
}
