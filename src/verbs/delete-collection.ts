// DELETE on a collection: every object that a list with the same options would show, each as a delete of its own.

import { ApiError } from '../api/api-error.js'
import type { DeleteOptions } from '../api/options/delete-options.js'
import type { ListOptions } from '../api/options/list-options.js'
import { partsOf } from '../objects/keys.js'
import { remove } from './delete.js'
import type { Call, Engine } from './engine.js'
import { list } from './list.js'

const workers = 16

export async function removeCollection(
  engine: Engine,
  call: Call,
  request: { readonly list: ListOptions; readonly options: DeleteOptions },
): Promise<void> {
  const page = await list(engine, call, request.list)
  // Only their names are kept: together the objects may be larger than memory.
  const keys = Array.from(page.objects(), (object) => partsOf(call.resource, object.key))
  let next = 0
  async function work(): Promise<void> {
    for (let i = next++; i < keys.length; i = next++) {
      const { namespace, name } = keys[i] as (typeof keys)[number]
      await removeUnlessGone(engine, { ...call, namespace, name }, request.options)
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, keys.length) }, work))
}

/** Somebody else may have been quicker: what is gone is as wanted. */
async function removeUnlessGone(engine: Engine, call: Call, options: DeleteOptions): Promise<void> {
  try {
    await remove(engine, call, options)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status.code !== 404) throw thrown
  }
}
