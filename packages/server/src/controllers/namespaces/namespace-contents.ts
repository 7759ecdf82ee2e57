// Deletes the objects of a namespace, or of a CRD, page by page, yielding to the event loop.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ObjectMeta } from '@cluster-apiserver/api/api/object.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { partsOf } from '../../objects/object-keys.js'
import type { Engine } from '../../verbs/engine.js'
import type { Run } from '../framework/controller.js'
import { internalDelete } from '../framework/internal-call.js'
import { pagesOf } from '../framework/list-pages.js'

interface Contents {
  readonly name: string
  readonly collections: readonly Resource[]
  readonly run: Run
}

export interface Remaining {
  /** Number of objects by resource and group. */
  readonly objects: ReadonlyMap<string, number>
  readonly finalizers: ReadonlyMap<string, number>
  readonly failures: readonly unknown[]
  /** Versions of extension API servers that do not respond. */
  readonly undiscovered?: readonly string[]
}

const concurrency = 16

/** Returns undefined if the controller was closed, or the namespace or CRD was replaced or restored meanwhile. */
export async function deleteContents(
  engine: Engine,
  { name, collections, run, isStillTerminating }: Contents & { readonly isStillTerminating: () => boolean },
): Promise<Remaining | undefined> {
  const objects = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures = new Map<Resource, unknown>()
  for (const resource of collections) {
    if (engine.store.count(resource, name) === 0) continue
    const deleteOne = async (stored: StoredObject): Promise<void> => {
      await run.budget.yieldIfSpent()
      if (run.signal.aborted) return
      const metadata = stored.inAnyVersion(resource).metadata ?? {}
      try {
        if (!waitsForFinalizers(metadata) && !(await existsAfterDelete(engine, resource, stored))) return
      } catch (thrown) {
        // A rejected deletion does not block the others. Errors of the store are retried.
        if (!(thrown instanceof ApiError) || thrown.status.code >= 500 || thrown.status.code === 429) throw thrown
        if (!failures.has(resource)) failures.set(resource, thrown)
      }
      count(objects, resource.group === '' ? resource.name : `${resource.name}.${resource.group}`)
      for (const finalizer of metadata.finalizers ?? []) count(finalizers, finalizer)
    }
    for await (const page of pagesOf(engine.store, { resource, namespace: name }, run.budget)) {
      if (!isStillTerminating()) return undefined
      await inParallel(page, concurrency, deleteOne)
      if (run.signal.aborted) return undefined
    }
  }
  return { objects, finalizers, failures: [...failures.values()] }
}

/** Another DELETE removes these finalizers of the garbage collector. */
const collectorFinalizers: readonly string[] = ['orphan', 'foregroundDeletion']

/** True if a terminating object waits for other finalizers: another DELETE would change nothing. */
function waitsForFinalizers({ finalizers = [], deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && finalizers.length > 0 && !finalizers.some((each) => collectorFinalizers.includes(each))
}

async function existsAfterDelete(engine: Engine, resource: Resource, { key }: StoredObject): Promise<boolean> {
  try {
    const options = { propagationPolicy: 'Background' }
    return !(await internalDelete(engine, { resource, ...partsOf(resource, key), options }))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status.code === 404) return false
    throw thrown
  }
}

const count = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Deletes objects that were committed after their namespace was deleted. */
export async function deleteOrphans(
  engine: Engine,
  { name, collections, run, isDeleted }: Contents & { readonly isDeleted: () => boolean },
): Promise<void> {
  for (const resource of collections) {
    if (engine.store.count(resource, name) === 0) continue
    for await (const page of pagesOf(engine.store, { resource, namespace: name }, run.budget)) {
      if (!isDeleted() || run.signal.aborted) return
      await inParallel(page, concurrency, (stored) => deleteOrphan(engine, resource, stored))
    }
  }
}

async function deleteOrphan(engine: Engine, resource: Resource, stored: StoredObject): Promise<void> {
  const uid = stored.inAnyVersion(resource).metadata?.uid ?? ''
  try {
    const options = { preconditions: { uid }, propagationPolicy: 'Background' }
    await internalDelete(engine, { resource, ...partsOf(resource, stored.key), options })
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || ![404, 409].includes(thrown.status.code)) throw thrown
  }
}
