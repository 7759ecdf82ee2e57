// Orphan and foreground deletion: releases or deletes the dependents of a terminating owner, then removes its finalizer.

import { ignoreErrors, notFoundCodes } from '../framework/internal-call.js'
import { collect } from './collect-object.js'
import { type Entry, foregroundFinalizer, isForeground, isOrphaning, orphanFinalizer } from './owner-entry.js'
import { entryAt, forEachDependent, type Graph, locate, patchMetadata, read } from './owner-graph.js'
import { isRemoteKey } from './remote-groups/remote-kinds.js'

export function waitsFor(graph: Graph, key: string): 'orphans' | 'dependents' | undefined {
  const owner = locate(graph, key)
  const object = owner && read(graph, owner)
  if (object === undefined) return undefined
  return isOrphaning(object) ? 'orphans' : isForeground(object) ? 'dependents' : undefined
}

export async function orphanDependents(graph: Graph, key: string): Promise<void> {
  const found = entryAt(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'orphans') return
  let hasRemote = false
  await forEachDependent(graph, found.uid, async (dependentKey) => {
    if (isRemoteKey(dependentKey) && !graph.mayCallRemote) hasRemote = true
    else await removeOwnerReference(graph, dependentKey, found.uid)
  })
  if (hasRemote) graph.onRemote('orphan', key)
  if (!graph.run.signal.aborted && !graph.index.hasDependents(found.uid)) await removeFinalizer(graph, key, orphanFinalizer)
}

async function removeOwnerReference(graph: Graph, key: string, uid: string): Promise<void> {
  const dependent = locate(graph, key)
  const found = entryAt(graph, key)
  if (dependent === undefined || found === undefined) return
  const ownerReferences = found.references.filter((reference) => reference.uid !== uid)
  await ignoreErrors(notFoundCodes, patchMetadata(graph, dependent, { ...found, changes: { ownerReferences } }))
}

export async function deleteDependents(graph: Graph, key: string): Promise<void> {
  const found = entryAt(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents') return
  graph.index.watchDependents(found.uid, key)
  await forEachDependent(graph, found.uid, (dependentKey) => collect(graph, dependentKey))
  await removeForegroundFinalizer(graph, key)
}

export async function removeForegroundFinalizer(graph: Graph, key: string): Promise<void> {
  const found = entryAt(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents' || (await isBlocked(graph, found))) return
  if (!graph.run.signal.aborted) await removeFinalizer(graph, key, foregroundFinalizer)
}

async function isBlocked(graph: Graph, { uid }: Entry): Promise<boolean> {
  const { index, run } = graph
  for (const key of index.dependentsOf(uid)) {
    await run.budget.yieldIfSpent()
    const references = entryAt(graph, key)?.references ?? []
    if (references.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true)) return true
  }
  return false
}

async function removeFinalizer(graph: Graph, key: string, finalizer: string): Promise<void> {
  const owner = locate(graph, key)
  // Read without yielding in between, so that both have the same version.
  const [found, object] = [entryAt(graph, key), owner && read(graph, owner)]
  if (owner === undefined || found === undefined || object === undefined) return
  const { finalizers = [] } = object.metadata ?? {}
  const rest = finalizers.filter((name) => name !== finalizer)
  if (rest.length === finalizers.length) return
  await ignoreErrors(notFoundCodes, patchMetadata(graph, owner, { ...found, changes: { finalizers: rest } }))
}
