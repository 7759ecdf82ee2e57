// Owners that were deleted and wait for their dependents: those are let go or deleted, and when none is left that counts, the owner is let go.

import { ApiError } from '../../api/api-error.js'
import type { OwnedEntry } from '../../objects/owner-index.js'
import { collect } from './collect.js'
import { eachDependent } from './each-dependent.js'
import { foregroundFinalizer, isForeground, isOrphaning, orphanFinalizer } from './finalizers.js'
import { type Dependent, type Graph, locate } from './graph.js'
import { patchMetadata } from './patch-metadata.js'

/** What an object that is going waits for; undefined: nothing that concerns the collector. */
export function waitsFor(graph: Graph, key: string): 'orphans' | 'dependents' | undefined {
  const owner = locate(graph, key)
  const stored = owner && graph.engine.store.read(owner)
  if (owner === undefined || stored === undefined) return undefined
  const object = stored.inAnyVersion(owner.resource)
  return isOrphaning(object) ? 'orphans' : isForeground(object) ? 'dependents' : undefined
}

/** Takes the owner out of the references of all that depend on it, and lets it go. */
export async function orphanDependents(graph: Graph, key: string): Promise<void> {
  const found = graph.index.look(key)
  if (found === undefined || waitsFor(graph, key) !== 'orphans') return
  await eachDependent(graph, found.uid, (dependentKey) => disown(graph, dependentKey, found.uid))
  // Somebody may have come meanwhile.
  if (!graph.run.signal.aborted && !graph.index.hasDependents(found.uid)) await letGo(graph, key, orphanFinalizer)
}

async function disown(graph: Graph, key: string, uid: string): Promise<void> {
  const dependent = locate(graph, key)
  const found = graph.index.look(key)
  if (dependent === undefined || found === undefined) return
  const ownerReferences = found.references.filter((reference) => reference.uid !== uid)
  await unlessGone(patchMetadata(graph, dependent, { ...found, changes: { ownerReferences } }))
}

/** Deletes all that depend on an owner that waits for them. */
export async function deleteDependents(graph: Graph, key: string): Promise<void> {
  const found = graph.index.look(key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents') return
  graph.index.watchDependents(found.uid, key)
  await eachDependent(graph, found.uid, (dependentKey) => collect(graph, dependentKey))
  await letGoUnlessBlocked(graph, key)
}

/** Lets an owner go for which nobody is left that blocks it. */
export async function letGoUnlessBlocked(graph: Graph, key: string): Promise<void> {
  const found = graph.index.look(key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents' || (await isBlocked(graph, found))) return
  if (!graph.run.signal.aborted) await letGo(graph, key, foregroundFinalizer)
}

async function isBlocked({ index, run }: Graph, { uid }: OwnedEntry): Promise<boolean> {
  for (const key of index.dependentsOf(uid)) {
    if (run.pieces.isOver) await run.pieces.next()
    const references = index.look(key)?.references ?? []
    if (references.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true)) return true
  }
  return false
}

async function letGo(graph: Graph, key: string, finalizer: string): Promise<void> {
  const owner: Dependent | undefined = locate(graph, key)
  const stored = owner && graph.engine.store.read(owner)
  if (owner === undefined || stored === undefined) return
  const { uid = '', finalizers = [] } = stored.inAnyVersion(owner.resource).metadata ?? {}
  const rest = finalizers.filter((name) => name !== finalizer)
  if (rest.length === finalizers.length) return
  await unlessGone(patchMetadata(graph, owner, { uid, revision: stored.revision, changes: { finalizers: rest } }))
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
