// Deletes what is there so that it can be made anew.

import { isNotFound } from '../client/errors.js'
import type { Work } from './command.js'
import type { Deletion } from './deletion.js'
import type { Named } from './targets.js'
import { isRefused, waitUntilGone } from './until.js'

/** Resolves when it is gone, however it went. */
export async function makeRoom(one: Named, { options, deadline }: Deletion, { signal, io }: Pick<Work, 'signal' | 'io'>): Promise<void> {
  const { collection, name } = one
  const live = await collection.find(name)
  await collection.delete(name, options).catch((thrown: unknown) => {
    if (!isNotFound(thrown)) throw thrown
  })
  await waitUntilGone(one, { uid: live?.metadata?.uid ?? '', deadline, signal, io }).catch((thrown: unknown) => {
    // What is deleted must be made anew, even where it cannot be seen to be gone.
    if (!isRefused(thrown)) throw thrown
  })
}
