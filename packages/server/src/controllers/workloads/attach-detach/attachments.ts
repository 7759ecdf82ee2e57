// VolumeAttachments: name, content, and the entry in the status of a node.

import { createHash } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Node, PersistentVolume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { VolumeAttachment } from '@cluster-apiserver/api/resources/storage/v1.schema.js'

/** Name of the attachment of a volume to a node, as external attachers expect it. */
export function attachmentName({ spec }: PersistentVolume, nodeName: string): string {
  const { driver = '', volumeHandle = '' } = spec?.csi ?? {}
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`
}

export const newAttachment = (volume: PersistentVolume, nodeName: string): VolumeAttachment =>
  ({
    metadata: { name: attachmentName(volume, nodeName) },
    spec: { attacher: volume.spec?.csi?.driver ?? '', nodeName, source: { persistentVolumeName: volume.metadata?.name ?? '' } },
  }) as VolumeAttachment

type AttachedVolume = NonNullable<NonNullable<Node['status']>['volumesAttached']>[number]

export const attachedVolumePrefix = (identity: Identity): string => identity.label('csi/')

export const attachedVolume = (identity: Identity, { spec }: PersistentVolume): AttachedVolume => ({
  name: `${attachedVolumePrefix(identity)}${spec?.csi?.driver}^${spec?.csi?.volumeHandle}`,
  devicePath: '',
})
