// An object whose owners are gone goes, too; one that still has an owner loses the references to those that are gone.

import { ApiError } from '../../api/api-error.js'
import type { OwnerReference } from '../../api/object.js'
import { isForeground, policyOf } from './finalizers.js'
import { type Dependent, type Entry, type Graph, locate, look, read } from './graph.js'
import { type Found, standingOf } from './owners.js'
import { patchMetadata, type Removal, removeAsFound } from './write-object.js'

const mostAttempts = 5

/** Does what is to be done for one dependent now. `gone`: the uid of an owner that is known to be gone. */
export async function collect(graph: Graph, key: string, gone?: string): Promise<void> {
  const dependent = locate(graph, key)
  if (dependent === undefined) return
  if (dependent.resource === undefined && !graph.asksOthers) {
    graph.onElsewhere('check', key)
    return
  }
  for (let attempt = 1; ; attempt++) {
    // What is known of objects elsewhere is a little old.
    const found = dependent.resource === undefined ? await graph.remotes?.lookAgain(key) : look(graph, key)
    if (found === undefined || found.isGoing || found.references.length === 0) return
    try {
      await decide(graph, dependent, { found, gone })
      return
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      // It is gone, or another one has its name.
      if (thrown.status.code === 404) return
      // It has changed since it was looked at, and what was found out about it may be wrong.
      if (thrown.status.code !== 409 || attempt === mostAttempts) throw thrown
    }
  }
}

async function decide(graph: Graph, dependent: Dependent, { found, gone }: Found): Promise<void> {
  const standing = await standingOf(graph, dependent, { found, gone })
  if (standing === undefined) return
  const { solid, dangling, waiting } = standing
  if (solid.length > 0) {
    if (dangling.length + waiting.length > 0) await keepOwners(graph, dependent, { found, kept: solid })
    return
  }
  if (waiting.length > 0 && graph.index.hasDependents(found.uid)) {
    const { revision } = (await isInCycle(graph, found.uid)) ? await unblock(graph, dependent, found) : found
    await removeAsFound(graph, dependent, { uid: found.uid, revision, policy: 'Foreground' })
    return
  }
  await removeAsFound(graph, dependent, { ...found, policy: policyFor(graph, dependent, found) })
}

function policyFor(graph: Graph, dependent: Dependent, { mayHaveFinalizers }: Entry): Removal['policy'] {
  const object = mayHaveFinalizers ? read(graph, dependent) : undefined
  return object === undefined ? 'Background' : policyOf(object)
}

/** Owners that wait for their dependents are let go as well: the object stays for the others. */
const keepOwners = (graph: Graph, dependent: Dependent, { found, kept }: { found: Entry; kept: readonly OwnerReference[] }) =>
  patchMetadata(graph, dependent, { ...found, changes: { ownerReferences: kept } })

/** An object that waits for its dependents, one of which waits for it: each would wait for the other for ever. */
async function isInCycle(graph: Graph, uid: string): Promise<boolean> {
  for (const key of graph.index.dependentsOf(uid)) {
    if (graph.run.pieces.isOver) await graph.run.pieces.next()
    if (look(graph, key)?.isGoing !== true) continue
    const dependent = locate(graph, key)
    const object = dependent && read(graph, dependent)
    if (object !== undefined && isForeground(object)) return true
  }
  return false
}

/** It blocks none of its owners any more. */
function unblock(graph: Graph, dependent: Dependent, found: Entry): Promise<{ readonly revision: number | string }> {
  const ownerReferences = found.references.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
  return patchMetadata(graph, dependent, { ...found, changes: { ownerReferences } })
}
