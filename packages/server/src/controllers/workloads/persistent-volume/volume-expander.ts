// Persistent volume expander: grows the volume of a claim whose storage request exceeds its capacity.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { compareQuantities, parseQuantity } from '@cluster-apiserver/api/schema/quantity.js'
import { KeyedController } from '../../framework/controller.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { ownersSource } from '../kit/owner-keys.js'
import { addressOfKey, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { builtInProvisioner } from './storage-classes.js'
import { annotationOf } from './volume-annotations.js'

export const volumeExpander = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'expand-controller', 'volume_expand')
  return new KeyedController(parts, {
    name: 'volume_expand',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog)
      return resources === undefined ? [] : [ownersSource(resources.claims)]
    },
    work: async (key) => {
      const resources = resourcesIn(parts.catalogs.current)
      if (resources === undefined) return undefined
      const claim = readObject<PersistentVolumeClaim>(parts, addressOfKey(resources.claims, key))
      const name = claim?.spec?.volumeName ?? ''
      if (claim === undefined || !wantsMore(claim)) return undefined
      const volume = readObject<PersistentVolume>(parts, { resource: resources.volumes, namespace: '', name })
      if (volume?.spec?.claimRef?.uid === claim.metadata?.uid && volume !== undefined)
        await expand(parts, writer, { resources, claim, volume })
      return undefined
    },
  })
}

interface Resources {
  readonly claims: Resource
  readonly volumes: Resource
}

function resourcesIn(catalog: Catalog): Resources | undefined {
  const claims = catalog.find('', 'v1', 'persistentvolumeclaims')
  const volumes = catalog.find('', 'v1', 'persistentvolumes')
  return claims === undefined || volumes === undefined ? undefined : { claims, volumes }
}

/** True if the request of a bound claim is larger than its capacity. */
function wantsMore({ spec, status }: PersistentVolumeClaim): boolean {
  const request = spec?.resources?.requests?.['storage']
  const capacity = status?.capacity?.['storage']
  if (status?.phase !== 'Bound' || request === undefined || capacity === undefined) return false
  return compareQuantities(parseQuantity(String(request)), parseQuantity(String(capacity))) > 0
}

interface Expansion {
  readonly resources: Resources
  readonly claim: PersistentVolumeClaim
  readonly volume: PersistentVolume
}

/** Volumes without data need no resize of a file system, so the claim has its new capacity at once. */
async function expand(parts: WorkloadParts, writer: Writer, { resources: { claims, volumes }, claim, volume }: Expansion): Promise<void> {
  const { identity } = parts.engine
  if (annotationOf(identity, volume, 'provisionedBy') !== builtInProvisioner) {
    const why = "didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC"
    await writer.event(claims, claim, { type: 'Warning', reason: 'ExternalExpanding', message: `Ignoring the PVC: ${why}.` })
    return
  }
  const storage = claim.spec?.resources?.requests?.['storage']
  const isSmaller = compareQuantities(parseQuantity(String(volume.spec?.capacity?.['storage'] ?? '0')), parseQuantity(String(storage))) < 0
  if (isSmaller)
    await writer.update(volumes, {
      ...volume,
      spec: { ...volume.spec, capacity: { ...volume.spec?.capacity, storage } },
    } as PersistentVolume)
  const { conditions: _, ...status } = claim.status ?? {}
  const capacity = { ...status.capacity, storage }
  await writer.update(claims, { ...claim, status: { ...status, capacity } } as PersistentVolumeClaim, 'status')
  await writer.event(claims, claim, {
    type: 'Normal',
    reason: 'VolumeResizeSuccessful',
    message: `ExpandVolume succeeded for volume ${claim.metadata?.namespace}/${claim.metadata?.name}`,
  })
}
