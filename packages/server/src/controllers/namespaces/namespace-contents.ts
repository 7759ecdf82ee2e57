// All that a namespace holds is deleted, page by page: however much it is, little of it is in memory, and requests get their turn.

import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ObjectMeta } from '../api/object.js'
import { inParallel } from '../base/in-parallel.js'
import { partsOf } from '../objects/keys.js'
import { metadataOf } from '../objects/lean-object.js'
import type { StoredObject } from '../objects/stored-object.js'
import type { Engine } from '../verbs/engine.js'
import type { Run } from './kit/loop.js'
import { pagesOf } from './kit/pages.js'
import { removeOwn } from './own-write.js'

export interface Contents {
  readonly name: string
  readonly collections: readonly Resource[]
  readonly run: Run
}

/** What is still there after everything was deleted once. */
export interface Remaining {
  /** How many, by the resource with its group. */
  readonly objects: ReadonlyMap<string, number>
  /** How many are held, by the finalizer that does. */
  readonly finalizers: ReadonlyMap<string, number>
  /** One for each resource that could not be deleted. */
  readonly failures: readonly unknown[]
  /** Versions of groups of which nobody knows what they hold, because their servers do not answer; left out: none. */
  readonly undiscovered?: readonly string[]
}

const width = 16

/** Undefined when the loop ended on the way, or the namespace is not the one any more whose contents shall go. */
export async function deleteContents(
  engine: Engine,
  { name, collections, run, isStill }: Contents & { readonly isStill: () => boolean },
): Promise<Remaining | undefined> {
  const objects = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures = new Map<Resource, unknown>()
  for (const resource of collections) {
    if (engine.store.count(resource, name) === 0) continue
    const deleteOne = async (stored: StoredObject): Promise<void> => {
      if (run.pieces.isOver) await run.pieces.next()
      if (run.signal.aborted) return
      const metadata = metadataOf(stored, resource)
      try {
        if (!isOnlyHeld(metadata) && !(await isLeftAfterDelete(engine, resource, stored))) return
      } catch (thrown) {
        // One that may not be deleted does not save the others; a store that cannot be used is asked again later.
        if (!(thrown instanceof ApiError) || thrown.status.code >= 500 || thrown.status.code === 429) throw thrown
        if (!failures.has(resource)) failures.set(resource, thrown)
      }
      count(objects, resource.group === '' ? resource.name : `${resource.name}.${resource.group}`)
      for (const finalizer of metadata.finalizers ?? []) count(finalizers, finalizer)
    }
    for await (const page of pagesOf(engine.store, { resource, namespace: name }, run.pieces)) {
      if (!isStill()) return undefined
      await inParallel(page, width, deleteOne)
      if (run.signal.aborted) return undefined
    }
  }
  return { objects, finalizers, failures: [...failures.values()] }
}

/** Those of the garbage collector are taken away by another delete. */
const ofCollector: readonly string[] = ['orphan', 'foregroundDeletion']

/** It was deleted before, and waits for others: to delete it again would change nothing. */
function isOnlyHeld({ finalizers = [], deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && finalizers.length > 0 && !finalizers.some((each) => ofCollector.includes(each))
}

async function isLeftAfterDelete(engine: Engine, resource: Resource, { key }: StoredObject): Promise<boolean> {
  try {
    const options = { propagationPolicy: 'Background' }
    return !(await removeOwn(engine, { resource, ...partsOf(resource, key), options }))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status.code === 404) return false
    throw thrown
  }
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/**
 * Deletes what arrived when the namespace was gone. What is found while there is none is nobody's, even if one of that name comes back meanwhile;
 * what is made then has another uid.
 */
export async function deleteOrphans(
  engine: Engine,
  { name, collections, run, isGone }: Contents & { readonly isGone: () => boolean },
): Promise<void> {
  for (const resource of collections) {
    if (engine.store.count(resource, name) === 0) continue
    for await (const page of pagesOf(engine.store, { resource, namespace: name }, run.pieces)) {
      if (!isGone() || run.signal.aborted) return
      await inParallel(page, width, (stored) => deleteOrphan(engine, resource, stored))
    }
  }
}

async function deleteOrphan(engine: Engine, resource: Resource, stored: StoredObject): Promise<void> {
  const uid = metadataOf(stored, resource).uid ?? ''
  try {
    const options = { preconditions: { uid }, propagationPolicy: 'Background' }
    await removeOwn(engine, { resource, ...partsOf(resource, stored.key), options })
  } catch (thrown) {
    // It is gone, or another one has its name.
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
