// VolumeBinding: bound volumes must reach the node; claims that wait for a consumer must find a volume there, or be provisioned there.

import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { matchesNodeSelector } from '../../kit/node-selector.js'
import { isTerminating } from '../../kit/workload-parts.js'
import { classNameOf, isFullyBound } from '../../persistent-volume/volume-annotations.js'
import { amountOf } from '../amounts.js'
import type { NodeState } from '../node-state.js'
import type { Cluster, PendingPod, Plugin, Preparation } from './plugin.js'

const reasons = {
  nodeConflict: 'node(s) had volume node affinity conflict',
  nothingToBind: "node(s) didn't find available persistent volumes to bind",
  noSpace: 'node(s) did not have enough free storage',
  noVolume: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
}

export interface VolumePlan {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[]
  readonly provisions: readonly PersistentVolumeClaim[]
}

const emptyPlan: VolumePlan = { bindings: [], provisions: [] }

export const volumeBinding: Plugin = {
  name: 'VolumeBinding',
  prepare: (pending, cluster): Preparation | undefined => {
    if (pending.shape.claims.length === 0) return undefined
    const refused = problemOf(pending.pod, cluster)
    if (refused !== undefined) return { refused }
    const claims = claimsOfPod(pending, cluster)
    if (claims.immediate.length > 0) return { refused: 'pod has unbound immediate PersistentVolumeClaims' }
    const classless = claims.waiting.find((claim) => classNameOf(cluster.identity, claim) === '')
    if (classless !== undefined) return { failed: `no class for claim "${classless.metadata?.namespace}/${classless.metadata?.name}"` }
    return {
      filter: (node) => {
        const found = judge(claims, cluster, node)
        return Array.isArray(found) ? { reasons: found, isFinal: true } : undefined
      },
    }
  },
}

/** What to write so that the pod's claims are bound on this node. */
export function planVolumes(pending: PendingPod, cluster: Cluster, node: NodeState): VolumePlan {
  if (pending.shape.claims.length === 0) return emptyPlan
  const found = judge(claimsOfPod(pending, cluster), cluster, node)
  return Array.isArray(found) ? emptyPlan : (found as VolumePlan)
}

function problemOf(pod: Pod, { volumes, identity }: Cluster): string | undefined {
  const { namespace = '', name: podName = '', uid } = pod.metadata ?? {}
  for (const volume of pod.spec?.volumes ?? []) {
    const isEphemeral = volume.persistentVolumeClaim === undefined
    if (isEphemeral && volume.ephemeral === undefined) continue
    const name = volume.persistentVolumeClaim?.claimName ?? `${podName}-${volume.name}`
    const claim = volumes.claim(namespace, name)
    if (claim === undefined) {
      if (!isEphemeral) return `persistentvolumeclaim "${name}" not found`
      return `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
    }
    if (claim.status?.phase === 'Lost')
      return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName}"`
    if (isTerminating(claim)) return `persistentvolumeclaim "${name}" is being deleted`
    if (isEphemeral && claim.metadata?.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) !== true)
      return `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`
    if (!isFullyBound(identity, claim)) {
      const className = classNameOf(identity, claim)
      const storageClass = volumes.storageClass(className)
      if (storageClass !== undefined && storageClass.volumeBindingMode === undefined)
        return `VolumeBindingMode not set for StorageClass "${className}"`
    }
  }
  return undefined
}

interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[]
  /** Bound when the pod gets a node. */
  readonly waiting: readonly PersistentVolumeClaim[]
  /** Bound without regard to pods, and not yet. */
  readonly immediate: readonly PersistentVolumeClaim[]
}

function claimsOfPod({ shape: { claims, namespace } }: PendingPod, { volumes, identity }: Cluster): PodClaims {
  const bound: PersistentVolumeClaim[] = []
  const waiting: PersistentVolumeClaim[] = []
  const immediate: PersistentVolumeClaim[] = []
  for (const name of claims) {
    const claim = volumes.claim(namespace, name)
    if (claim === undefined) continue
    const mode = volumes.storageClass(classNameOf(identity, claim))?.volumeBindingMode
    if (isFullyBound(identity, claim)) bound.push(claim)
    else if (mode === 'WaitForFirstConsumer' && (claim.spec?.volumeName ?? '') === '') waiting.push(claim)
    else immediate.push(claim)
  }
  return { bound, waiting, immediate }
}

/** Reasons against the node, or the plan for it. */
function judge({ bound, waiting }: PodClaims, cluster: Cluster, node: NodeState): VolumePlan | string[] {
  const { volumes } = cluster
  const against: string[] = []
  let hasAllVolumes = true
  let isReachable = true
  for (const { spec } of bound) {
    const volume = volumes.volume(spec?.volumeName ?? '')
    if (volume === undefined) hasAllVolumes = false
    else if (!reaches(volume, node)) isReachable = false
    if (!hasAllVolumes || !isReachable) break
  }
  if (!isReachable) against.push(reasons.nodeConflict)
  const plan = planWaiting(waiting, cluster, node)
  if (plan === 'nothing') against.push(reasons.nothingToBind)
  if (plan === 'noSpace') against.push(reasons.noSpace)
  if (!hasAllVolumes) against.push(reasons.noVolume)
  return against.length > 0 ? against : (plan as VolumePlan)
}

function planWaiting(claims: readonly PersistentVolumeClaim[], cluster: Cluster, node: NodeState): VolumePlan | 'nothing' | 'noSpace' {
  const selectedNode = cluster.identity.label('selected-node', 'volume')
  const toMatch: PersistentVolumeClaim[] = []
  const provisions: PersistentVolumeClaim[] = []
  for (const claim of claims) {
    const selected = claim.metadata?.annotations?.[selectedNode]
    if (selected === undefined) toMatch.push(claim)
    else if (selected === node.name) provisions.push(claim)
    else return 'nothing'
  }
  const bindings: VolumePlan['bindings'][number][] = []
  const isTaken = (name: string): boolean => bindings.some(({ volume }) => volume.metadata?.name === name)
  for (const claim of toMatch.toSorted((a, b) => requestedBytes(a) - requestedBytes(b))) {
    const volume = findVolume(claim, cluster, { node, isTaken })
    if (volume === undefined) provisions.push(claim)
    else bindings.push({ claim, volume })
  }
  for (const claim of provisions) {
    const problem = provisionProblem(claim, cluster, node)
    if (problem !== undefined) return problem
  }
  return { bindings, provisions }
}

const reaches = ({ spec }: PersistentVolume, node: NodeState): boolean => {
  const required = spec?.nodeAffinity?.required
  return required === undefined || matchesNodeSelector(required, node)
}

const requestedBytes = ({ spec }: PersistentVolumeClaim): number => amountOf('storage', spec?.resources?.requests?.['storage'] ?? '0')
const bytesOf = ({ spec }: PersistentVolume): number => amountOf('storage', spec?.capacity?.['storage'] ?? '0')

interface Place {
  readonly node: NodeState
  readonly isTaken: (volumeName: string) => boolean
}

/** The volume that names this claim, or the smallest available one that satisfies it and reaches the node. */
function findVolume(claim: PersistentVolumeClaim, { volumes, identity }: Cluster, place: Place): PersistentVolume | undefined {
  const { node, isTaken } = place
  const className = classNameOf(identity, claim)
  const bytes = requestedBytes(claim)
  const { accessModes = [], selector, volumeMode = 'Filesystem' } = claim.spec ?? {}
  const compiled = selector === undefined ? undefined : fromSelectorObject(selector)
  let best: PersistentVolume | undefined
  for (const volume of volumes.volumesOfClass(className)) {
    const { metadata, spec, status } = volume
    const name = metadata?.name ?? ''
    if (isTaken(name) || isTerminating(volume) || (spec?.volumeMode ?? 'Filesystem') !== volumeMode || bytesOf(volume) < bytes) continue
    const { claimRef } = spec ?? {}
    if (claimRef !== undefined) {
      const isOwn = claimRef.name === claim.metadata?.name && claimRef.namespace === claim.metadata?.namespace
      if (!isOwn || ((claimRef.uid ?? '') !== '' && claimRef.uid !== claim.metadata?.uid)) continue
      return reaches(volume, node) ? volume : undefined
    }
    if (status?.phase !== 'Available' || volumes.isReserved(name)) continue
    if (compiled?.matches(metadata?.labels) === false || !reaches(volume, node)) continue
    if (!accessModes.every((mode) => spec?.accessModes?.includes(mode) === true)) continue
    if (best === undefined || isSmaller(volume, best)) best = volume
  }
  return best
}

const isSmaller = (a: PersistentVolume, b: PersistentVolume): boolean =>
  bytesOf(a) < bytesOf(b) || (bytesOf(a) === bytesOf(b) && compareText(a.metadata?.name ?? '', b.metadata?.name ?? '') < 0)

function provisionProblem(claim: PersistentVolumeClaim, cluster: Cluster, node: NodeState): 'nothing' | 'noSpace' | undefined {
  const { volumes, identity } = cluster
  const storageClass = volumes.storageClass(classNameOf(identity, claim))
  const provisioner = storageClass?.provisioner ?? ''
  if (storageClass === undefined || provisioner === '' || provisioner === identity.label('no-provisioner')) return 'nothing'
  if (!allowsTopology(storageClass, node)) return 'nothing'
  return hasCapacity(claim, storageClass, cluster, node) ? undefined : 'noSpace'
}

const allowsTopology = ({ allowedTopologies = [] }: StorageClass, { labels }: NodeState): boolean =>
  allowedTopologies.length === 0 ||
  allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key = '', values = [] }) => values.includes(labels[key] ?? '\0')),
  )

/** True unless the driver publishes its capacity, and no published capacity is large enough. */
function hasCapacity(claim: PersistentVolumeClaim, storageClass: StorageClass, { volumes }: Cluster, { labels }: NodeState): boolean {
  if (volumes.csiDriver(storageClass.provisioner ?? '')?.spec?.storageCapacity !== true) return true
  const bytes = requestedBytes(claim)
  return volumes.storageCapacities().some(({ storageClassName, nodeTopology, capacity, maximumVolumeSize }) => {
    const limit = maximumVolumeSize ?? capacity
    if (storageClassName !== storageClass.metadata?.name || limit === undefined || nodeTopology === undefined) return false
    return amountOf('storage', limit) >= bytes && fromSelectorObject(nodeTopology).matches(labels)
  })
}
