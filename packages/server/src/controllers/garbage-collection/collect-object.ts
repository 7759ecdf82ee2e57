// Deletes an object without an existing owner, or removes references to deleted owners.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { type Entry, isForeground, policyOf } from './owner-entry.js'
import { type Dependent, deleteIfUnchanged, entryAt, type Graph, locate, patchMetadata, type Removal, read } from './owner-graph.js'
import { classifyOwners, type Found } from './owner-state.js'

const maxAttempts = 5

export async function collect(graph: Graph, key: string, deletedUid?: string): Promise<void> {
  const dependent = locate(graph, key)
  if (dependent === undefined) return
  if (dependent.resource === undefined && !graph.mayCallRemote) {
    graph.onRemote('check', key)
    return
  }
  for (let attempt = 1; ; attempt++) {
    // The cache of remote objects may be stale.
    const found = dependent.resource === undefined ? await graph.remotes?.refetch(key) : entryAt(graph, key)
    if (found === undefined || found.isTerminating || found.references.length === 0) return
    try {
      await decide(graph, dependent, { found, deletedUid })
      return
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status.code === 404) return
      // The object has changed since it was read; decide again.
      if (thrown.status.code !== 409 || attempt === maxAttempts) throw thrown
    }
  }
}

async function decide(graph: Graph, dependent: Dependent, { found, deletedUid }: Found): Promise<void> {
  const owners = await classifyOwners(graph, dependent, { found, deletedUid })
  if (owners === undefined) return
  const { existing, missing, waiting } = owners
  if (existing.length > 0) {
    if (missing.length + waiting.length > 0) await keepOwners(graph, dependent, { found, kept: existing })
    return
  }
  if (waiting.length > 0 && graph.index.hasDependents(found.uid)) {
    const { revision } = (await isInCycle(graph, found.uid)) ? await unblock(graph, dependent, found) : found
    await deleteIfUnchanged(graph, dependent, { uid: found.uid, revision, policy: 'Foreground' })
    return
  }
  await deleteIfUnchanged(graph, dependent, { ...found, policy: policyFor(graph, dependent, found) })
}

function policyFor(graph: Graph, dependent: Dependent, { mayHaveFinalizers }: Entry): Removal['policy'] {
  const object = mayHaveFinalizers ? read(graph, dependent) : undefined
  return object === undefined ? 'Background' : policyOf(object)
}

const keepOwners = (graph: Graph, dependent: Dependent, { found, kept }: { found: Entry; kept: readonly OwnerReference[] }) =>
  patchMetadata(graph, dependent, { ...found, changes: { ownerReferences: kept } })

/** True if a dependent waits for its own dependents: two objects that block each other would never be deleted. */
async function isInCycle(graph: Graph, uid: string): Promise<boolean> {
  for (const key of graph.index.dependentsOf(uid)) {
    await graph.run.budget.yieldIfSpent()
    if (entryAt(graph, key)?.isTerminating !== true) continue
    const dependent = locate(graph, key)
    const object = dependent && read(graph, dependent)
    if (object !== undefined && isForeground(object)) return true
  }
  return false
}

function unblock(graph: Graph, dependent: Dependent, found: Entry): Promise<{ readonly revision: number | string }> {
  const ownerReferences = found.references.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
  return patchMetadata(graph, dependent, { ...found, changes: { ownerReferences } })
}
