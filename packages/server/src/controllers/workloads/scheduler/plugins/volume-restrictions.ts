// VolumeRestrictions: disks that only one pod of a node may use, and claims that only one pod may use.

import type { Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type Cluster, type PendingPod, type Plugin, type Preparation, refuse } from './plugin.js'

const refusal = refuse('node(s) had no available disk')
const singlePodConflict = 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'

export const volumeRestrictions: Plugin = {
  name: 'VolumeRestrictions',
  prepare: (pending, cluster): Preparation | undefined => {
    if (hasSinglePodConflict(pending, cluster)) return { refused: singlePodConflict }
    const { disks } = pending.shape
    if (disks.length === 0) return undefined
    return {
      filter: ({ shapes }) => {
        for (const { disks: used } of shapes.keys()) if (used.some((disk) => disks.some((wanted) => conflict(disk, wanted)))) return refusal
        return undefined
      },
    }
  },
}

function hasSinglePodConflict({ shape: { claims, namespace } }: PendingPod, { gates, volumes, nodes }: Cluster): boolean {
  if (claims.length === 0 || !gates('ReadWriteOncePod')) return false
  const single = claims.filter((name) => volumes.claim(namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod') === true)
  if (single.length === 0) return false
  return nodes.some(({ shapes }) => {
    for (const other of shapes.keys()) if (other.namespace === namespace && other.claims.some((name) => single.includes(name))) return true
    return false
  })
}

function conflict(a: Volume, b: Volume): boolean {
  const isWritable = (x: { readonly readOnly?: boolean }, y: { readonly readOnly?: boolean }): boolean =>
    x.readOnly !== true || y.readOnly !== true
  if (a.gcePersistentDisk !== undefined && b.gcePersistentDisk !== undefined)
    return a.gcePersistentDisk.pdName === b.gcePersistentDisk.pdName && isWritable(a.gcePersistentDisk, b.gcePersistentDisk)
  if (a.awsElasticBlockStore !== undefined && b.awsElasticBlockStore !== undefined)
    return a.awsElasticBlockStore.volumeID === b.awsElasticBlockStore.volumeID
  if (a.iscsi !== undefined && b.iscsi !== undefined) return a.iscsi.iqn === b.iscsi.iqn && isWritable(a.iscsi, b.iscsi)
  if (a.rbd === undefined || b.rbd === undefined) return false
  const { monitors = [], pool, image } = b.rbd
  const sharesMonitor = (a.rbd.monitors ?? []).some((monitor) => monitors.includes(monitor))
  return sharesMonitor && a.rbd.pool === pool && a.rbd.image === image && isWritable(a.rbd, b.rbd)
}
