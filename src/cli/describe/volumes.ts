// Where data is kept: claims of volumes, volumes, and classes of storage.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../client/typed/types.js'
import { selectorQuery } from '../selector-query.js'
import { conditionsEntry, deletionEntries, labelEntries, quantities, textOr, yesNo } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, listOrNone, none, pairsOf } from './entry.js'

export async function describeClaim(object: PersistentVolumeClaim, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', metadata?.namespace)
  const users = pods?.filter((pod) => pod.spec?.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === metadata?.name))
  const going = deletionEntries(object)
  return [
    ['StorageClass', textOr(spec.storageClassName)],
    ...(going.length > 0 ? going : ([['Status', textOr(status.phase)]] as const)),
    ['Volume', textOr(spec.volumeName)],
    ...labelEntries(object),
    ['Finalizers', listOrNone(metadata?.finalizers ?? [])],
    ['Requested', quantities(spec.resources?.requests)],
    ['Capacity', quantities(status.capacity) ?? none],
    ['Access Modes', textOr((status.accessModes ?? spec.accessModes ?? []).join(','))],
    ['VolumeMode', textOr(spec.volumeMode)],
    ['Used By', users === undefined ? undefined : listOrNone(users.map((pod) => pod.metadata?.name ?? ''))],
    conditionsEntry(status.conditions),
  ]
}

/** What says something about a volume beside where it is. */
const known = [
  'capacity',
  'accessModes',
  'storageClassName',
  'volumeMode',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'mountOptions',
  'nodeAffinity',
]

export function describeVolume(object: PersistentVolume): readonly Entry[] {
  const { metadata, spec = {}, status = {} } = object
  const going = deletionEntries(object)
  const claim = spec.claimRef
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const [source] = Object.entries(spec).filter(([name, value]) => !known.includes(name) && value !== undefined)
  return [
    ...labelEntries(object),
    ['Finalizers', listOrNone(metadata?.finalizers ?? [])],
    ['StorageClass', textOr(spec.storageClassName)],
    ...(going.length > 0 ? going : ([['Status', textOr(status.phase)]] as const)),
    ['Claim', claim === undefined ? none : `${claim.namespace ?? ''}/${claim.name ?? ''}`],
    ['Reclaim Policy', textOr(spec.persistentVolumeReclaimPolicy)],
    ['Access Modes', textOr((spec.accessModes ?? []).join(','))],
    ['VolumeMode', textOr(spec.volumeMode)],
    ['Capacity', quantities(spec.capacity)],
    ['Mount Options', spec.mountOptions],
    ['Node Affinity', listOrNone(terms.map(({ matchExpressions = [] }) => selectorQuery({ matchExpressions })))],
    ['Message', status.message],
    ['Source', source === undefined ? none : block(sourceEntries(source))],
  ]
}

const sourceEntries = ([type, source]: readonly [string, unknown]): readonly Entry[] => [
  ['Type', type],
  ...Object.entries(source as object)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]): Entry => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
]

export function describeStorageClass(object: StorageClass): readonly Entry[] {
  const { annotations = {} } = object.metadata ?? {}
  const isDefault = Object.entries(annotations).some(([name, value]) => name.endsWith('/is-default-class') && value === 'true')
  return [
    ['IsDefaultClass', isDefault ? 'Yes' : 'No'],
    ...labelEntries(object),
    ['Provisioner', textOr(object.provisioner)],
    ['Parameters', pairsOf(object.parameters)],
    ['AllowVolumeExpansion', object.allowVolumeExpansion === undefined ? '<unset>' : yesNo(object.allowVolumeExpansion)],
    ['MountOptions', listOrNone(object.mountOptions ?? [])],
    ['ReclaimPolicy', textOr(object.reclaimPolicy)],
    ['VolumeBindingMode', textOr(object.volumeBindingMode)],
  ]
}
