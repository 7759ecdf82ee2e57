// Owners that were deleted and wait for their dependents: those are let go or deleted, and when none is left that counts, the owner is let go.

import { ApiError } from '../../api/api-error.js'
import { collect } from './collect.js'
import { eachDependent } from './each-dependent.js'
import { isElsewhere } from './elsewhere/remote-kinds.js'
import { foregroundFinalizer, isForeground, isOrphaning, orphanFinalizer } from './finalizers.js'
import { type Entry, type Graph, locate, look, read } from './graph.js'
import { patchMetadata } from './write-object.js'

/** What an object that is going waits for; undefined: nothing that concerns the collector. */
export function waitsFor(graph: Graph, key: string): 'orphans' | 'dependents' | undefined {
  const owner = locate(graph, key)
  const object = owner && read(graph, owner)
  if (object === undefined) return undefined
  return isOrphaning(object) ? 'orphans' : isForeground(object) ? 'dependents' : undefined
}

/** Takes the owner out of the references of all that depend on it, and lets it go. */
export async function orphanDependents(graph: Graph, key: string): Promise<void> {
  const found = look(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'orphans') return
  let isLeft = false
  await eachDependent(graph, found.uid, async (dependentKey) => {
    if (isElsewhere(dependentKey) && !graph.asksOthers) isLeft = true
    else await disown(graph, dependentKey, found.uid)
  })
  if (isLeft) graph.onElsewhere('orphan', key)
  // Somebody may have come meanwhile.
  if (!graph.run.signal.aborted && !graph.index.hasDependents(found.uid)) await letGo(graph, key, orphanFinalizer)
}

async function disown(graph: Graph, key: string, uid: string): Promise<void> {
  const dependent = locate(graph, key)
  const found = look(graph, key)
  if (dependent === undefined || found === undefined) return
  const ownerReferences = found.references.filter((reference) => reference.uid !== uid)
  await unlessGone(patchMetadata(graph, dependent, { ...found, changes: { ownerReferences } }))
}

/** Deletes all that depend on an owner that waits for them. */
export async function deleteDependents(graph: Graph, key: string): Promise<void> {
  const found = look(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents') return
  graph.index.watchDependents(found.uid, key)
  await eachDependent(graph, found.uid, (dependentKey) => collect(graph, dependentKey))
  await letGoUnlessBlocked(graph, key)
}

/** Lets an owner go for which nobody is left that blocks it. */
export async function letGoUnlessBlocked(graph: Graph, key: string): Promise<void> {
  const found = look(graph, key)
  if (found === undefined || waitsFor(graph, key) !== 'dependents' || (await isBlocked(graph, found))) return
  if (!graph.run.signal.aborted) await letGo(graph, key, foregroundFinalizer)
}

async function isBlocked(graph: Graph, { uid }: Entry): Promise<boolean> {
  const { index, run } = graph
  for (const key of index.dependentsOf(uid)) {
    if (run.pieces.isOver) await run.pieces.next()
    const references = look(graph, key)?.references ?? []
    if (references.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true)) return true
  }
  return false
}

async function letGo(graph: Graph, key: string, finalizer: string): Promise<void> {
  const owner = locate(graph, key)
  // In one turn, so that both speak of the same version.
  const [found, object] = [look(graph, key), owner && read(graph, owner)]
  if (owner === undefined || found === undefined || object === undefined) return
  const { finalizers = [] } = object.metadata ?? {}
  const rest = finalizers.filter((name) => name !== finalizer)
  if (rest.length === finalizers.length) return
  await unlessGone(patchMetadata(graph, owner, { ...found, changes: { finalizers: rest } }))
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
