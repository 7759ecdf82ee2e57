// Reconciles one claim: finds, provisions or keeps its volume.

import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { everything } from '../../../objects/list/selection.js'
import type { Outcome } from '../../framework/work-queue.js'
import { claimNamesOf } from '../kit/pod-state.js'
import { readObject } from '../kit/workload-parts.js'
import type { WorkloadEvent } from '../kit/writer.js'
import { bind, setClaimPhase, setClaimPhaseWithEvent, type VolumeContext } from './bind-volume.js'
import { provision } from './provision-volume.js'
import { findDefaultClass, isDelayedClaim } from './storage-classes.js'
import { annotationOf, classNameOf, hasNoClass } from './volume-annotations.js'
import { findVolume, isReservedFor, mismatchOf } from './volume-match.js'

/** A claim that waits is checked again at the resync period of kube-controller-manager. */
const resync: Outcome = { afterMs: 15_000 }

export async function syncClaim(context: VolumeContext, claim: PersistentVolumeClaim): Promise<Outcome> {
  if (annotationOf(context.parts.engine.identity, claim, 'bindCompleted') === undefined) return syncUnboundClaim(context, claim)
  await syncBoundClaim(context, claim)
  return undefined
}

const volumeNamed = ({ parts, resources }: VolumeContext, name: string): PersistentVolume | undefined =>
  readObject<PersistentVolume>(parts, { resource: resources.volumes, namespace: '', name })

async function syncUnboundClaim(context: VolumeContext, claim: PersistentVolumeClaim): Promise<Outcome> {
  const { parts, resources } = context
  const { identity } = parts.engine
  const { volumeName = '' } = claim.spec ?? {}
  if (volumeName !== '') return syncNamedVolume(context, claim, volumeNamed(context, volumeName))
  const isDelayed = isDelayedClaim(parts, resources.classes, claim)
  const volume = findVolume(claim, candidates(context, claim), { identity, isDelayed })
  if (volume !== undefined) {
    await bind(context, volume, claim)
    return undefined
  }
  if (await assignDefaultClass(context, claim)) return undefined
  if (isDelayed && annotationOf(identity, claim, 'selectedNode') === undefined) await noteWaiting(context, claim)
  else if (classNameOf(identity, claim) !== '') {
    await provision(context, claim)
    return resync
  } else await note(context, claim, { type: 'Normal', reason: 'FailedBinding', message: noVolumeMessage })
  await setClaimPhase(context, claim, { phase: 'Pending' })
  return resync
}

const noVolumeMessage = 'no persistent volumes available for this claim and no storage class is set'

const note = ({ writer, resources }: VolumeContext, claim: PersistentVolumeClaim, event: WorkloadEvent): Promise<void> =>
  writer.event(resources.claims, claim, event)

/** Volumes that are free or name the claim; other entries are not decoded. */
function* candidates({ parts, resources }: VolumeContext, { metadata }: PersistentVolumeClaim): Generator<PersistentVolume> {
  const texts = ['"Available"', JSON.stringify(metadata?.name ?? '')].map((text) => Buffer.from(text))
  const { volumes } = resources
  for (const stored of parts.engine.store.readAll({ resource: volumes, namespace: '', selection: everything, limit: 0 }).objects())
    if (texts.some((text) => stored.entry.value.includes(text))) yield stored.decode(volumes) as PersistentVolume
}

/** A claim without class gets the default class that was created after it. */
async function assignDefaultClass({ parts, writer, resources }: VolumeContext, claim: PersistentVolumeClaim): Promise<boolean> {
  const { identity, gates } = parts.engine
  if (!gates('RetroactiveDefaultStorageClass') || !hasNoClass(identity, claim)) return false
  const storageClass = findDefaultClass(parts, resources.classes)
  if (storageClass === undefined) return false
  const spec = { ...claim.spec, storageClassName: storageClass.metadata?.name }
  await writer.update(resources.claims, { ...claim, spec } as PersistentVolumeClaim)
  return true
}

async function noteWaiting(context: VolumeContext, claim: PersistentVolumeClaim): Promise<void> {
  const pods = await unscheduledPods(context, claim)
  const [reason, message] =
    pods.length === 0
      ? ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding']
      : ['WaitForPodScheduled', `waiting for pod${pods.length > 1 ? 's' : ''} ${pods.join(',')} to be scheduled`]
  await note(context, claim, { type: 'Normal', reason: reason as string, message: message as string })
}

async function unscheduledPods({ parts, resources, run }: VolumeContext, { metadata }: PersistentVolumeClaim): Promise<readonly string[]> {
  const { pods } = resources
  const names: string[] = []
  for (const stored of parts.engine.store.readInSteps({ resource: pods, namespace: metadata?.namespace ?? '', selection: everything })) {
    await run.budget.yieldIfSpent()
    if (stored === undefined || (stored.fields(pods)?.['spec.nodeName'] ?? '') !== '') continue
    const pod = stored.decode(pods) as Pod
    if (claimNamesOf(pod).includes(metadata?.name ?? '')) names.push(pod.metadata?.name ?? '')
  }
  return names
}

/** The claim names its volume. */
async function syncNamedVolume(
  context: VolumeContext,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Promise<Outcome> {
  const { identity } = context.parts.engine
  const { name } = volume?.metadata ?? {}
  if (volume !== undefined && volume.spec?.claimRef === undefined) {
    const mismatch = mismatchOf(identity, volume, claim)
    if (mismatch === undefined) {
      await bind(context, volume, claim)
      return undefined
    }
    await note(context, claim, {
      type: 'Warning',
      reason: 'VolumeMismatch',
      message: `Cannot bind to requested volume "${name}": ${mismatch}`,
    })
  } else if (volume !== undefined && isReservedFor(volume, claim)) {
    await bind(context, volume, claim)
    return undefined
  } else if (volume !== undefined)
    await note(context, claim, {
      type: 'Warning',
      reason: 'FailedBinding',
      message: `volume "${name}" already bound to a different claim.`,
    })
  await setClaimPhase(context, claim, { phase: 'Pending' })
  return resync
}

async function syncBoundClaim(context: VolumeContext, claim: PersistentVolumeClaim): Promise<void> {
  const lost = (reason: string, message: string): Promise<void> =>
    setClaimPhaseWithEvent(context, claim, 'Lost', { type: 'Warning', reason, message })
  const { volumeName = '' } = claim.spec ?? {}
  if (volumeName === '') return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  const volume = volumeNamed(context, volumeName)
  if (volume === undefined) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined || claimRef.uid === claim.metadata?.uid) return bind(context, volume, claim)
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}
