// Volume limits: NodeVolumeLimits counts the volumes of a CSI driver on a node (limit in CSINode), three others the disks of old drivers.

import type { PersistentVolumeSpec, Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { classNameOf } from '../../persistent-volume/volume-annotations.js'
import type { NodeState } from '../node-state.js'
import type { PodShape } from '../pod-shape.js'
import { type Cluster, type Plugin, refuse } from './plugin.js'

const refusal = refuse('node(s) exceed max volume count')

export const nodeVolumeLimits: Plugin = {
  name: 'NodeVolumeLimits',
  prepare: ({ shape }, cluster) => {
    if (shape.claims.length === 0) return undefined
    const wanted = csiVolumesOf(shape, cluster)
    if (wanted.size === 0) return undefined
    return {
      filter: (node) => {
        const limits = new Map<string, number>()
        for (const { name = '', allocatable } of cluster.volumes.csiNode(node.name)?.spec?.drivers ?? [])
          if (allocatable?.count !== undefined) limits.set(name, allocatable.count)
        if (limits.size === 0) return undefined
        return exceeds(
          limits,
          wanted,
          attached(node, (used) => csiVolumesOf(used, cluster)),
        )
          ? refusal
          : undefined
      },
    }
  },
}

/** Identifier of each volume with its driver. */
type Volumes = ReadonlyMap<string, string>

function attached({ shapes }: NodeState, volumesOf: (shape: PodShape) => Volumes): Volumes {
  const volumes = new Map<string, string>()
  for (const shape of shapes.keys()) for (const [id, driver] of volumesOf(shape)) volumes.set(id, driver)
  return volumes
}

function exceeds(limits: ReadonlyMap<string, number>, wanted: Volumes, present: Volumes): boolean {
  const counts = new Map<string, number>()
  const count = (driver: string): void => void counts.set(driver, (counts.get(driver) ?? 0) + 1)
  for (const driver of present.values()) count(driver)
  const drivers = new Set<string>()
  for (const [id, driver] of wanted) {
    if (present.has(id)) continue
    count(driver)
    drivers.add(driver)
  }
  return [...drivers].some((driver) => (counts.get(driver) ?? 0) > (limits.get(driver) ?? Number.POSITIVE_INFINITY))
}

/** A claim without a volume counts for the driver that will provision it. */
function csiVolumesOf({ claims, namespace }: PodShape, { volumes, identity }: Cluster): Volumes {
  const found = new Map<string, string>()
  for (const name of claims) {
    const claim = volumes.claim(namespace, name)
    if (claim === undefined) continue
    const csi = volumes.volume(claim.spec?.volumeName ?? '')?.spec?.csi
    if (csi?.driver !== undefined) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver)
    else if ((claim.spec?.volumeName ?? '') === '') {
      const provisioner = volumes.storageClass(classNameOf(identity, claim))?.provisioner
      if (provisioner !== undefined) found.set(`${provisioner}/claim/${namespace}/${name}`, provisioner)
    }
  }
  return found
}

type Disk = Pick<Volume & PersistentVolumeSpec, 'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk'>

const diskLimits = (name: string, resource: string, fallback: number, idOf: (disk: Disk) => string | undefined): Plugin => {
  const volumesOf = ({ claims, disks, namespace }: PodShape, { volumes }: Cluster): Volumes => {
    const found = new Map<string, string>()
    const add = (disk: Disk | undefined): void => {
      const id = disk === undefined ? undefined : idOf(disk)
      if (id !== undefined) found.set(id, resource)
    }
    for (const disk of disks) add(disk as Disk)
    for (const claim of claims) add(volumes.volume(volumes.claim(namespace, claim)?.spec?.volumeName ?? '')?.spec as Disk | undefined)
    return found
  }
  return {
    name,
    prepare: ({ shape }, cluster) => {
      if (shape.disks.length === 0 && shape.claims.length === 0) return undefined
      const wanted = volumesOf(shape, cluster)
      if (wanted.size === 0) return undefined
      return {
        filter: (node) => {
          const limits = new Map([[resource, node.facts.allocatable.get(resource) ?? fallback]])
          return exceeds(
            limits,
            wanted,
            attached(node, (used) => volumesOf(used, cluster)),
          )
            ? refusal
            : undefined
        },
      }
    },
  }
}

export const ebsLimits = diskLimits('EBSLimits', 'attachable-volumes-aws-ebs', 39, (disk) => disk.awsElasticBlockStore?.volumeID)
export const gcePdLimits = diskLimits('GCEPDLimits', 'attachable-volumes-gce-pd', 16, (disk) => disk.gcePersistentDisk?.pdName)
export const azureDiskLimits = diskLimits('AzureDiskLimits', 'attachable-volumes-azure-disk', 16, (disk) => disk.azureDisk?.diskName)
