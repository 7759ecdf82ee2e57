// Ownership seen through the scale subresource: its only field is the number of replicas, which lies elsewhere in the scaled object.

import { difference, type FieldSet, hasPath, pathSet } from './field-set.js'
import { isSameOwner, type ManagedFieldsEntry, type Owner, ownerOf, readStoredEntries, withSet, writeEntries } from './managed-entries.js'
import { fieldElement } from './path-element.js'

const replicasInScale: readonly string[] = ['f:spec', 'f:replicas']

export interface ScaleFields {
  /** The version of the scale subresource, such as `autoscaling/v1`. */
  readonly scaleVersion: string
  /** The version of the scaled object in which the request came. */
  readonly apiVersion: string
  /** Where the replicas are in a version of the scaled object: `spec.replicas`; undefined for versions that are not served. */
  readonly replicasPath: (apiVersion: string) => string | undefined
}

const elementsOf = (path: string): readonly string[] => path.split('.').filter(Boolean).map(fieldElement)

/** The entries of the scaled object that own its replicas, as entries of the scale. */
export function scaleEntries(
  scale: ScaleFields,
  parent: readonly ManagedFieldsEntry[] | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = readStoredEntries(parent).flatMap((owner): readonly Owner[] => {
    const path = scale.replicasPath(owner.apiVersion)
    if (path === undefined || !hasPath(owner.set, elementsOf(path))) return []
    return [ownerOf({ ...owner, apiVersion: scale.scaleVersion }, pathSet(replicasInScale), owner.time)]
  })
  return writeEntries(owners)
}

/** The entries of the scaled object after the scale was written: who lost the replicas there loses them here, who got them gets them. */
export function parentEntries(
  scale: ScaleFields,
  entries: { readonly parent: readonly ManagedFieldsEntry[] | undefined; readonly scale: readonly ManagedFieldsEntry[] | undefined },
): readonly ManagedFieldsEntry[] | undefined {
  const scaled = readStoredEntries(entries.scale)
  const settled = new Set<Owner>()
  const kept = readStoredEntries(entries.parent).flatMap((owner): readonly Owner[] => {
    const path = scale.replicasPath(owner.apiVersion)
    if (path === undefined) return []
    const elements = elementsOf(path)
    if (!hasPath(owner.set, elements)) return [owner]
    const still = scaled.find((other) => isSameOwner({ ...other, apiVersion: owner.apiVersion }, owner))
    if (still === undefined) return [withSet(owner, difference(owner.set, pathSet(elements)))]
    settled.add(still)
    return [owner]
  })
  return writeEntries([...kept, ...scaled.filter((owner) => !settled.has(owner)).flatMap((owner) => gained(scale, owner))])
}

function gained(scale: ScaleFields, owner: Owner): readonly Owner[] {
  const path = scale.replicasPath(scale.apiVersion)
  if (path === undefined || !hasPath(owner.set, replicasInScale)) return []
  const set: FieldSet = pathSet(elementsOf(path))
  return [ownerOf({ ...owner, apiVersion: scale.apiVersion }, set, owner.time)]
}
