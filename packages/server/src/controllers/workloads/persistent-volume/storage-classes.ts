// Storage classes: lookup, the default class, and the built-in class of this server.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { readAll, readObject, type WorkloadParts } from '../kit/workload-parts.js'
import type { Writer } from '../kit/writer.js'
import { annotationKey, annotationOf, classNameOf } from './volume-annotations.js'

/** Provisioner of this server: a volume is an object without data. */
export const builtInProvisioner = 'cluster-apiserver/volumes'

export const findClass = (parts: WorkloadParts, classes: Resource, name: string): StorageClass | undefined =>
  name === '' ? undefined : readObject<StorageClass>(parts, { resource: classes, namespace: '', name })

/** True if the scheduler chooses the volume, or the node of a new one. */
export const isDelayedClaim = (parts: WorkloadParts, classes: Resource, claim: PersistentVolumeClaim): boolean =>
  findClass(parts, classes, classNameOf(parts.engine.identity, claim))?.volumeBindingMode === 'WaitForFirstConsumer'

export const isDefaultClass = (identity: Identity, storageClass: StorageClass): boolean =>
  (['defaultClass', 'betaDefaultClass'] as const).some((name) => annotationOf(identity, storageClass, name) === 'true')

/** The newest default class; of several, the first by name. */
export function findDefaultClass(parts: WorkloadParts, classes: Resource): StorageClass | undefined {
  const found = [...readAll<StorageClass>(parts, classes, '')].filter((it) => isDefaultClass(parts.engine.identity, it))
  const bornMs = ({ metadata }: StorageClass): number => Date.parse(metadata?.creationTimestamp ?? '')
  return found.sort((a, b) => bornMs(b) - bornMs(a) || compareText(a.metadata?.name ?? '', b.metadata?.name ?? ''))[0]
}

/** Creates the class `standard` if there is no class at all. */
export async function ensureClass(parts: WorkloadParts, writer: Writer, classes: Resource): Promise<void> {
  const { store, identity } = parts.engine
  if (store.count(classes, '') > 0) return
  await writer.create(classes, {
    metadata: { name: 'standard', annotations: { [annotationKey(identity, 'defaultClass')]: 'true' } },
    provisioner: builtInProvisioner,
    allowVolumeExpansion: true,
  } as StorageClass)
}
