// Annotations of claims and volumes, and the storage class that a claim or volume names.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'

type AnnotationName =
  | 'bindCompleted'
  | 'boundByController'
  | 'provisionedBy'
  | 'provisioner'
  | 'betaProvisioner'
  | 'selectedNode'
  | 'betaClass'
  | 'defaultClass'
  | 'betaDefaultClass'

const keys: { readonly [Name in AnnotationName]: readonly [name: string, subdomain: string] } = {
  bindCompleted: ['bind-completed', 'pv'],
  boundByController: ['bound-by-controller', 'pv'],
  provisionedBy: ['provisioned-by', 'pv'],
  provisioner: ['storage-provisioner', 'volume'],
  betaProvisioner: ['storage-provisioner', 'volume.beta'],
  selectedNode: ['selected-node', 'volume'],
  betaClass: ['storage-class', 'volume.beta'],
  defaultClass: ['is-default-class', 'storageclass'],
  betaDefaultClass: ['is-default-class', 'storageclass.beta'],
}

export const annotationKey = (identity: Identity, name: AnnotationName): string => identity.label(...keys[name])

export const annotationOf = (identity: Identity, { metadata }: ApiObject, name: AnnotationName): string | undefined =>
  metadata?.annotations?.[annotationKey(identity, name)]

/** Empty if none. The annotation of older releases wins. */
export const classNameOf = (identity: Identity, object: PersistentVolume | PersistentVolumeClaim): string =>
  annotationOf(identity, object, 'betaClass') ?? object.spec?.storageClassName ?? ''

/** A claim without class, which gets the default class; an empty class name means a volume without class. */
export const hasNoClass = (identity: Identity, claim: PersistentVolumeClaim): boolean =>
  annotationOf(identity, claim, 'betaClass') === undefined && claim.spec?.storageClassName === undefined

export const isFullyBound = (identity: Identity, claim: PersistentVolumeClaim): boolean =>
  (claim.spec?.volumeName ?? '') !== '' && annotationOf(identity, claim, 'bindCompleted') !== undefined
