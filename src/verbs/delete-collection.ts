// DELETE on a collection: every object that a list with the same options would show, each as a delete of its own.

import { ApiError } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ListOptions } from '../api/options/list-options.js'
import { inParallel } from '../base/in-parallel.js'
import { nowOrInPieces } from '../base/pieces.js'
import { type KeyParts, partsOf } from '../objects/keys.js'
import type { ObjectPage } from '../objects/list.js'
import { remove } from './delete.js'
import { warnOfOrphans } from './deletion.js'
import type { Engine } from './engine.js'
import { list, piecesOf } from './list.js'

/** Of a server that was told no other number. */
const usualWorkers = 16

export async function removeCollection(engine: Engine, call: Call, listed: ListOptions): Promise<void> {
  warnOfOrphans(call)
  const pieces = piecesOf(call)
  const page = await list(engine, call, listed, pieces)
  // Only their names are kept: together the objects may be larger than memory.
  const keys = await nowOrInPieces(namesOf(call, page), pieces)
  // Nothing goes on after an answer: where one is refused, those behind it stay, and what runs is waited for.
  await inParallel(keys, engine.deletionWorkers ?? usualWorkers, async (key) => {
    call.throwIfAborted()
    await removeUnlessGone(engine, call.with(key))
  })
}

function* namesOf({ resource }: Call, page: ObjectPage): Generator<Promise<void> | undefined, readonly KeyParts[], void> {
  const names: KeyParts[] = []
  for (const object of page.steps()) {
    if (object === undefined || object instanceof Promise) yield object
    else names.push(partsOf(resource, object.key))
  }
  return names
}

/** Somebody else may have been quicker: what is gone is as wanted. */
async function removeUnlessGone(engine: Engine, call: Call): Promise<void> {
  try {
    await remove(engine, call)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
