// How fresh a read must be, and how long it waits for a version that this server has not seen yet.

import { tooLargeResourceVersion } from '../api/api-error.js'
import type { AskedVersion } from '../api/options/read-version.js'
import type { ObjectStore } from '../objects/object-store.js'

const waitForVersionMs = 3000

/** Returns at once when the store is new enough; waits a little for a version from the future; then refuses. */
export function awaitRevision(
  store: ObjectStore,
  { resourceVersion: revision, asked }: AskedVersion,
  { comesAgain = true } = {},
): undefined | Promise<void> {
  if (revision <= store.revision) return undefined
  return store.reach(revision, AbortSignal.timeout(waitForVersionMs)).then((isReached) => {
    if (!isReached) throw tooLargeResourceVersion(asked ?? revision, store.revision, comesAgain)
  })
}
