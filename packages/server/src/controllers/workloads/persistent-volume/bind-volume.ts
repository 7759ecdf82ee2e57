// Writes of the binder: a volume and a claim point at each other, then both are Bound.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Run } from '../../framework/controller.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import type { WorkloadEvent, Writer } from '../kit/writer.js'
import { annotationKey, annotationOf } from './volume-annotations.js'
import { isReservedFor } from './volume-match.js'

export interface VolumeContext {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: VolumeResources
  readonly run: Run
  /** By volume name. */
  readonly recycling: Map<string, Recycling>
}

interface Recycling {
  readonly uid: string
  /** This process started the recycler pod, or the time of the next attempt in milliseconds since 1970. */
  readonly state: 'started' | number
}

export interface VolumeResources {
  readonly claims: Resource
  readonly volumes: Resource
  readonly classes: Resource
  readonly pods: Resource
  readonly nodes: Resource
}

/** In the order of kube-controller-manager; a failed write is repeated by the next run of the claim. */
export async function bind(context: VolumeContext, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  const pointing = await pointAtClaim(context, volume, claim)
  const bound = await setVolumePhase(context, pointing, 'Bound')
  await setClaimPhase(context, await pointAtVolume(context, claim, bound), { phase: 'Bound', volume: bound })
}

export const claimReference = ({ claims }: VolumeResources, { metadata }: PersistentVolumeClaim): ObjectReference => {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {}
  return { kind: claims.kind, apiVersion: claims.apiVersion, namespace, name, uid, resourceVersion }
}

async function pointAtClaim(
  { parts, writer, resources }: VolumeContext,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolume> {
  const { identity } = parts.engine
  const isReserved = isReservedFor(volume, claim)
  const needsAnnotation = !isReserved && annotationOf(identity, volume, 'boundByController') === undefined
  if (isReserved && volume.spec?.claimRef?.uid === claim.metadata?.uid) return volume
  return writer.update(resources.volumes, {
    ...volume,
    metadata: needsAnnotation ? annotated(volume, { [annotationKey(identity, 'boundByController')]: 'yes' }) : volume.metadata,
    spec: { ...volume.spec, claimRef: claimReference(resources, claim) },
  } as PersistentVolume)
}

async function pointAtVolume(
  { parts, writer, resources }: VolumeContext,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<PersistentVolumeClaim> {
  const { identity } = parts.engine
  const { name } = volume.metadata ?? {}
  const annotations: Record<string, string> = {}
  const isNamed = claim.spec?.volumeName === name
  if (!isNamed && annotationOf(identity, claim, 'boundByController') === undefined)
    annotations[annotationKey(identity, 'boundByController')] = 'yes'
  if (annotationOf(identity, claim, 'bindCompleted') === undefined) annotations[annotationKey(identity, 'bindCompleted')] = 'yes'
  if (isNamed && Object.keys(annotations).length === 0) return claim
  const spec = { ...claim.spec, volumeName: name }
  return writer.update(resources.claims, { ...claim, metadata: annotated(claim, annotations), spec } as PersistentVolumeClaim)
}

export const annotated = (
  { metadata }: PersistentVolume | PersistentVolumeClaim,
  annotations: { readonly [key: string]: string },
): PersistentVolume['metadata'] => ({ ...metadata, annotations: { ...metadata?.annotations, ...annotations } })

interface ClaimPhase {
  readonly phase: 'Pending' | 'Bound' | 'Lost'
  readonly volume?: PersistentVolume
}

/** A claim that was Bound keeps its capacity, which may differ from that of the volume during an expansion. */
export async function setClaimPhase(
  { writer, resources }: VolumeContext,
  claim: PersistentVolumeClaim,
  { phase, volume }: ClaimPhase,
): Promise<void> {
  const { accessModes: _, capacity, ...rest } = claim.status ?? {}
  const { accessModes } = volume?.spec ?? {}
  const keeps = volume !== undefined && claim.status?.phase === phase
  const amounts = keeps ? capacity : volume?.spec?.capacity
  const status = {
    ...rest,
    phase,
    ...(accessModes === undefined ? {} : { accessModes }),
    ...(amounts === undefined ? {} : { capacity: amounts }),
  }
  if (!sameValue(claim.status ?? {}, status)) await writer.update(resources.claims, { ...claim, status } as PersistentVolumeClaim, 'status')
}

/** The event is recorded with a change of the phase only. */
export async function setClaimPhaseWithEvent(
  context: VolumeContext,
  claim: PersistentVolumeClaim,
  phase: 'Lost',
  event: WorkloadEvent,
): Promise<void> {
  if (claim.status?.phase === phase) return
  await setClaimPhase(context, claim, { phase })
  await context.writer.event(context.resources.claims, claim, event)
}

export async function setVolumePhase(
  { writer, resources }: VolumeContext,
  volume: PersistentVolume,
  phase: 'Available' | 'Bound' | 'Released' | 'Failed',
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume
  const { message: _, ...rest } = volume.status ?? {}
  const status = { ...rest, phase, ...(message === undefined ? {} : { message }) }
  return writer.update(resources.volumes, { ...volume, status } as PersistentVolume, 'status')
}

export async function failVolume(context: VolumeContext, volume: PersistentVolume, reason: string, message: string): Promise<void> {
  if (volume.status?.phase === 'Failed') return
  await setVolumePhase(context, volume, 'Failed', message)
  await context.writer.event(context.resources.volumes, volume, { type: 'Warning', reason, message })
}

/** Takes back a binding. A volume that the controller chose becomes free; one that the user reserved keeps its claimRef, without uid. */
export async function unbind(context: VolumeContext, volume: PersistentVolume): Promise<void> {
  const { parts, writer, resources } = context
  const { identity } = parts.engine
  const { claimRef, ...spec } = volume.spec ?? {}
  const isOurs = annotationOf(identity, volume, 'boundByController') !== undefined
  const { [annotationKey(identity, 'boundByController')]: _, ...annotations } = volume.metadata?.annotations ?? {}
  const { uid: __, ...reference } = claimRef ?? {}
  const updated = await writer.update(resources.volumes, {
    ...volume,
    metadata: isOurs ? { ...volume.metadata, annotations } : volume.metadata,
    spec: isOurs ? spec : { ...spec, claimRef: reference },
  } as PersistentVolume)
  await setVolumePhase(context, updated, 'Available')
}
