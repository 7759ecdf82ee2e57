// persistentVolumeClaimRetentionPolicy: owner references that let the garbage collector delete the claims of a StatefulSet.

import type { OwnerReference } from '@cluster-apiserver/api/api/object.js'
import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'

/** The objects that may own a claim, and whether the pod is to be removed by a scale-down. */
interface ClaimOwners {
  readonly set: StatefulSet
  readonly pod: Pod
  readonly isScaledDown: boolean
}

const policyOf = ({ spec }: StatefulSet): { readonly deletesWithSet: boolean; readonly deletesWithPod: boolean } => ({
  deletesWithSet: spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete',
  deletesWithPod: spec?.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete',
})

function wantedOwners({ set, isScaledDown }: ClaimOwners): { readonly set: boolean; readonly pod: boolean } {
  const { deletesWithSet, deletesWithPod } = policyOf(set)
  const pod = deletesWithPod && isScaledDown
  return { set: deletesWithSet && !pod, pod }
}

const isOwnedBy = ({ metadata }: PersistentVolumeClaim, owner: Pod | StatefulSet): boolean =>
  metadata?.ownerReferences?.some(({ uid }) => uid === owner.metadata?.uid) === true

export function followsPolicy(claim: PersistentVolumeClaim, owners: ClaimOwners): boolean {
  const wanted = wantedOwners(owners)
  return isOwnedBy(claim, owners.set) === wanted.set && isOwnedBy(claim, owners.pod) === wanted.pod
}

export function withPolicy(claim: PersistentVolumeClaim, owners: ClaimOwners): PersistentVolumeClaim {
  const wanted = wantedOwners(owners)
  const { set, pod } = owners
  const kept = (claim.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata?.uid && uid !== pod.metadata?.uid)
  const added = [
    ...(wanted.set ? [referenceTo(set, 'apps/v1', 'StatefulSet')] : []),
    ...(wanted.pod ? [referenceTo(pod, 'v1', 'Pod')] : []),
  ]
  return { ...claim, metadata: { ...claim.metadata, ownerReferences: [...kept, ...added] } }
}

const referenceTo = ({ metadata }: Pod | StatefulSet, apiVersion: string, kind: string): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
})

/** True if the claim belongs to a deleted pod of the same name and will be deleted with it; a new pod must wait. */
export const isStaleClaim = (set: StatefulSet, { metadata }: PersistentVolumeClaim, podName: string): boolean =>
  policyOf(set).deletesWithPod && metadata?.ownerReferences?.some(({ kind, name }) => kind === 'Pod' && name === podName) === true
