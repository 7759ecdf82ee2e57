// managedFields of the scale subresource: ownership of the replicas, translated between the Scale and its parent object.

import { difference, type FieldSet, hasPath, pathSet } from '../field-set/field-set.js'
import { fieldElement } from '../field-set/path-element.js'
import {
  type FieldOwner,
  isSameOwner,
  type ManagedFieldsEntry,
  ownerOf,
  readStoredEntries,
  withSet,
  writeEntries,
} from './managed-fields-entries.js'

const replicasInScale: readonly string[] = ['f:spec', 'f:replicas']

export interface ScaleFields {
  readonly scaleVersion: string
  readonly apiVersion: string
  /** Path such as `spec.replicas`; undefined for versions that are not served. */
  readonly replicasPath: (apiVersion: string) => string | undefined
}

const elementsOf = (path: string): readonly string[] => path.split('.').filter(Boolean).map(fieldElement)

/** Entries of the parent that own the replicas, as entries of the Scale. */
export function scaleEntries(
  scale: ScaleFields,
  parent: readonly ManagedFieldsEntry[] | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = readStoredEntries(parent).flatMap((owner): readonly FieldOwner[] => {
    const path = scale.replicasPath(owner.apiVersion)
    if (path === undefined || !hasPath(owner.set, elementsOf(path))) return []
    return [ownerOf({ ...owner, apiVersion: scale.scaleVersion }, pathSet(replicasInScale), owner.time)]
  })
  return writeEntries(owners)
}

/** Entries of the parent, with ownership of the replicas taken from the entries of the Scale. */
export function parentEntries(
  scale: ScaleFields,
  entries: { readonly parent: readonly ManagedFieldsEntry[] | undefined; readonly scale: readonly ManagedFieldsEntry[] | undefined },
): readonly ManagedFieldsEntry[] | undefined {
  const scaleOwners = readStoredEntries(entries.scale)
  const matched = new Set<FieldOwner>()
  const kept = readStoredEntries(entries.parent).flatMap((owner): readonly FieldOwner[] => {
    const path = scale.replicasPath(owner.apiVersion)
    if (path === undefined) return []
    const elements = elementsOf(path)
    if (!hasPath(owner.set, elements)) return [owner]
    const match = scaleOwners.find((other) => isSameOwner({ ...other, apiVersion: owner.apiVersion }, owner))
    if (match === undefined) return [withSet(owner, difference(owner.set, pathSet(elements)))]
    matched.add(match)
    return [owner]
  })
  return writeEntries([...kept, ...scaleOwners.filter((owner) => !matched.has(owner)).flatMap((owner) => newParentOwner(scale, owner))])
}

function newParentOwner(scale: ScaleFields, owner: FieldOwner): readonly FieldOwner[] {
  const path = scale.replicasPath(scale.apiVersion)
  if (path === undefined || !hasPath(owner.set, replicasInScale)) return []
  const set: FieldSet = pathSet(elementsOf(path))
  return [ownerOf({ ...owner, apiVersion: scale.apiVersion }, set, owner.time)]
}
