// GET of one object, at least as recent as the requested resourceVersion.

import { badRequest, type ErrorSubject, notFound, tooLargeResourceVersion } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { GetOptions } from '@cluster-apiserver/api/api/options/get-options.js'
import type { RequestedVersion } from '@cluster-apiserver/api/api/options/resource-version-match.js'
import type { StoredObject } from '../objects/entry/stored-object.js'
import type { ObjectStore } from '../objects/object-store.js'
import { addressOf, createOnDemand, type Engine } from './engine.js'
import { fromStored, prepareDecode, runWithConversions } from './version-conversion.js'

export async function get(engine: Engine, call: Call, { version }: GetOptions): Promise<StoredObject> {
  const { store } = engine
  if (version.mode === 'most-recent') await store.readIndex(call)
  if (version.mode === 'not-older-than') await awaitRevision(store, call, version)
  const found = store.readCached(addressOf(call)) ?? ((await createOnDemand(engine, call)) ? store.readCached(addressOf(call)) : undefined)
  if (found === undefined) throw notFound(subjectOf(call), call.name)
  if (call.subresource?.view?.refusal !== undefined) await checkViewAvailable(call, found)
  return found
}

/** Throws if the subresource does not exist for this object, such as the scale of a kind without replicas. */
async function checkViewAvailable(call: Call, stored: StoredObject): Promise<void> {
  const { resource, subresource } = call
  await call.waitFor(prepareDecode(stored, resource))
  const refusal = await runWithConversions(call, () => subresource?.view?.refusal?.(fromStored(call, stored.decode(resource))))
  if (refusal !== undefined) throw badRequest(refusal)
}

/** Errors of a subresource of another kind name the subresource too. */
function subjectOf({ resource, subresource }: Call): ErrorSubject {
  return subresource?.view === undefined ? resource.subject : { ...resource.subject, resource: `${resource.name}/${subresource.name}` }
}

const maxVersionWaitMs = 3000

/** Waits up to 3 s for a resourceVersion that this replica has not seen yet, then rejects. */
export async function awaitRevision(
  store: Pick<ObjectStore, 'revision' | 'reach'>,
  call: Pick<Call, 'waitFor' | 'resource'>,
  { resourceVersion: revision, requested }: RequestedVersion,
  { hasRetryAfter = true } = {},
): Promise<void> {
  if (revision <= store.revision) return
  // As in kube-apiserver, a retry is proposed only for kinds in its watch cache, which are all but Events.
  const isCached = call.resource.definition.ttlSeconds === undefined
  const isReached = await call.waitFor(store.reach(revision, AbortSignal.timeout(maxVersionWaitMs)))
  if (!isReached) throw tooLargeResourceVersion(requested ?? revision, store.revision, hasRetryAfter && isCached)
}
