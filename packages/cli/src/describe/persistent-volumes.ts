// Description of PersistentVolumeClaim, PersistentVolume and StorageClass.

import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@cluster-apiserver/client/typed/types.js'
import { conditionsEntry, deletionEntries, labelEntries, textOr, yesNo } from './common-fields.js'
import { block, type Entry, heading, listOrNone, none, pairsOf } from './description.js'
import { sourceEntries } from './pod-volumes.js'
import type { DescribeContext } from './related-objects.js'

export async function describeClaim(object: PersistentVolumeClaim, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status = {} } = object
  const pods = await context.list<Pod>('pods', metadata?.namespace)
  const users = pods?.filter((pod) => pod.spec?.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === metadata?.name))
  const terminating = deletionEntries(object)
  return [
    ['StorageClass', spec.storageClassName ?? ''],
    ...(terminating.length > 0 ? terminating : ([['Status', status.phase ?? '']] as const)),
    ['Volume', spec.volumeName ?? ''],
    ...labelEntries(object),
    ['Finalizers', `[${(metadata?.finalizers ?? []).join(' ')}]`],
    ['Capacity', spec.volumeName === undefined ? '' : textOr(status.capacity?.['storage'], '0')],
    ['Access Modes', spec.volumeName === undefined ? '' : modesText(status.accessModes)],
    ['VolumeMode', spec.volumeMode],
    ...dataSource(spec.dataSource),
    ['Used By', users === undefined ? undefined : listOrNone(users.map((pod) => pod.metadata?.name ?? ''))],
    conditionsEntry(status.conditions, ['Type', 'Status', 'LastProbeTime', 'LastTransitionTime', 'Reason', 'Message']),
  ]
}

const shortModes: { readonly [mode: string]: string } = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

const modesText = (modes: readonly string[] = []): string =>
  Object.keys(shortModes)
    .filter((mode) => modes.includes(mode))
    .map((mode) => shortModes[mode])
    .join(',')

const dataSource = (
  source: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string } | undefined,
): readonly Entry[] =>
  source === undefined
    ? []
    : [
        [
          'DataSource',
          block([
            ['APIGroup', source.apiGroup],
            ['Kind', source.kind ?? ''],
            ['Name', source.name ?? ''],
          ]),
        ],
      ]

const nonSourceFields = [
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
  const terminating = deletionEntries(object)
  const claim = spec.claimRef
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const [source] = Object.entries(spec).filter(([name, value]) => !nonSourceFields.includes(name) && value !== undefined)
  return [
    ...labelEntries(object),
    ['Finalizers', `[${(metadata?.finalizers ?? []).join(' ')}]`],
    ['StorageClass', spec.storageClassName ?? ''],
    ...(terminating.length > 0 ? terminating : ([['Status', status.phase ?? '']] as const)),
    ['Claim', claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`],
    ['Reclaim Policy', spec.persistentVolumeReclaimPolicy ?? ''],
    ['Access Modes', modesText(spec.accessModes)],
    ['VolumeMode', spec.volumeMode],
    ['Capacity', textOr(spec.capacity?.['storage'], '')],
    ...affinityOf(terms),
    ['Message', status.message ?? ''],
    ['Source', source === undefined ? '' : heading(sourceEntries({ [source[0]]: source[1] }), 4)],
  ]
}

type Term = NonNullable<
  NonNullable<NonNullable<NonNullable<PersistentVolume['spec']>['nodeAffinity']>['required']>['nodeSelectorTerms']
>[number]

const affinityOf = (terms: readonly Term[]): readonly Entry[] =>
  terms.length === 0
    ? [['Node Affinity', none]]
    : [
        ['Node Affinity', ''],
        ['  Required Terms', ''],
        ...terms.map(({ matchExpressions = [] }, i): Entry => [`    Term ${i}`, listOrNone(matchExpressions.map(termText))]),
      ]

const termText = ({ key = '', operator = '', values = [] }: NonNullable<Term['matchExpressions']>[number]): string =>
  `${key} ${operator.toLowerCase()}${values.length === 0 ? '' : ` [${values.join(', ')}]`}`

export function describeStorageClass(object: StorageClass): readonly Entry[] {
  const { annotations = {} } = object.metadata ?? {}
  const isDefault = Object.entries(annotations).some(([name, value]) => name.endsWith('/is-default-class') && value === 'true')
  return [
    ['IsDefaultClass', isDefault ? 'Yes' : 'No'],
    ['Annotations', pairsOf(annotations).join(',')],
    ['Provisioner', object.provisioner ?? ''],
    ['Parameters', pairsOf(object.parameters).join(',')],
    ['AllowVolumeExpansion', object.allowVolumeExpansion === undefined ? '<unset>' : yesNo(object.allowVolumeExpansion)],
    ['MountOptions', listOrNone(object.mountOptions ?? [])],
    ['ReclaimPolicy', textOr(object.reclaimPolicy)],
    ['VolumeBindingMode', textOr(object.volumeBindingMode)],
  ]
}
