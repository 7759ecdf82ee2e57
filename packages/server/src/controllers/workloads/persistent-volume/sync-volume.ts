// Reconciles one volume: its phase, and what happens after its claim was deleted.

import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Outcome } from '../../framework/work-queue.js'
import { readObject } from '../kit/workload-parts.js'
import { failVolume, setVolumePhase, unbind, type VolumeContext } from './bind-volume.js'
import { recycle } from './recycle-volume.js'
import { builtInProvisioner } from './storage-classes.js'
import { annotationOf } from './volume-annotations.js'
import { hasOtherMode } from './volume-match.js'

export async function syncVolume(context: VolumeContext, volume: PersistentVolume): Promise<Outcome> {
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined || (claimRef.uid ?? '') === '') {
    await setVolumePhase(context, volume, 'Available')
    return undefined
  }
  const claim = claimOf(context, volume)
  if (claim === undefined) return release(context, volume)
  const { volumeName = '' } = claim.spec ?? {}
  const { name } = volume.metadata ?? {}
  if (volumeName === name) await setVolumePhase(context, volume, 'Bound')
  else if (volumeName === '') await noteOtherMode(context, volume, claim)
  else if (isProvisioned(context, volume) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') return release(context, volume)
  else await unbind(context, volume)
  return undefined
}

/** The claim with the uid of the claimRef. */
function claimOf({ parts, resources }: VolumeContext, { spec }: PersistentVolume): PersistentVolumeClaim | undefined {
  const { namespace = '', name = '', uid } = spec?.claimRef ?? {}
  const claim = readObject<PersistentVolumeClaim>(parts, { resource: resources.claims, namespace, name })
  return claim?.metadata?.uid === uid ? claim : undefined
}

const isProvisioned = ({ parts }: VolumeContext, volume: PersistentVolume): boolean =>
  annotationOf(parts.engine.identity, volume, 'provisionedBy') !== undefined

/** The claim will be bound by its own run, which the event of the volume queues. */
async function noteOtherMode({ writer, resources }: VolumeContext, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  if (!hasOtherMode(volume, claim)) return
  const event = (volumeName: string, claimName: string) =>
    ({
      type: 'Warning',
      reason: 'VolumeMismatch',
      message: `Cannot bind PersistentVolume${volumeName} to requested PersistentVolumeClaim${claimName} due to incompatible volumeMode.`,
    }) as const
  await writer.event(resources.volumes, volume, event('', ` "${claim.metadata?.name}"`))
  await writer.event(resources.claims, claim, event(` "${volume.metadata?.name}"`, ''))
}

/** A failed volume stays failed, so that the user sees it. */
async function release(context: VolumeContext, volume: PersistentVolume): Promise<Outcome> {
  const released = volume.status?.phase === 'Failed' ? volume : await setVolumePhase(context, volume, 'Released')
  switch (released.spec?.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return undefined
    case 'Recycle':
      return recycle(context, released)
    case 'Delete':
      await deleteVolume(context, released)
      return undefined
    default:
      await failVolume(context, released, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy')
      return undefined
  }
}

async function deleteVolume(context: VolumeContext, volume: PersistentVolume): Promise<void> {
  const { parts, writer, resources } = context
  const { identity } = parts.engine
  const provisioner = annotationOf(identity, volume, 'provisionedBy') ?? ''
  // The deleter of another provisioner is another program.
  if (provisioner !== '' && provisioner !== builtInProvisioner && !provisioner.startsWith(identity.label(''))) return
  const problem = provisioner === builtInProvisioner ? undefined : deletionProblem(volume)
  if (problem !== undefined) return failVolume(context, volume, 'VolumeFailedDelete', problem)
  if (volume.metadata?.deletionTimestamp === undefined) await writer.delete(resources.volumes, volume)
}

const pluginsWithoutDeleter = ['nfs', 'local', 'csi']

/** Why no plugin deletes the volume: only directories under /tmp of type hostPath are deleted. */
export function deletionProblem({ metadata, spec }: PersistentVolume): string | undefined {
  const path = spec?.hostPath?.path
  if (path !== undefined)
    return path.startsWith('/tmp/') && path.length > '/tmp/'.length
      ? undefined
      : `host_path deleter only supports /tmp/.+ but received provided ${path}`
  const hasPlugin = pluginsWithoutDeleter.some((source) => spec !== undefined && source in spec)
  const problem = hasPlugin ? 'no deletable volume plugin matched' : 'no volume plugin matched'
  return `error getting deleter volume plugin for volume "${metadata?.name}": ${problem}`
}
