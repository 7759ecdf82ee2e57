// Applies one object on the server's side, and tells of conflicts so that one can act upon them.

import type { Collection } from '../client/collection.js'
import { StatusError } from '../client/errors.js'
import type { DynamicObject } from '../client/objects.js'
import type { ApplyOptions } from '../client/query.js'
import { explainConflict, managerOf } from './blame/conflict.js'
import { Failure } from './failure.js'
import type { Filed } from './targets.js'

/** What the same manager wrote in another way (create, patch, edit) is its own: it takes that over without being asked. */
export async function applyObject({ collection, object, resource, name }: Filed, options: ApplyOptions): Promise<DynamicObject> {
  if (name === '') throw new Failure('an object that is applied needs a name')
  const apply = (force: boolean): Promise<DynamicObject> =>
    (collection as Collection<DynamicObject>).apply(withoutBookkeeping(object), { ...options, force })
  try {
    return await apply(options.force ?? false)
  } catch (thrown) {
    if (!(thrown instanceof StatusError) || !thrown.causes.some(({ reason }) => reason === 'FieldManagerConflict')) throw thrown
    if (thrown.causes.every(({ message = '' }) => managerOf(message) === options.fieldManager)) return apply(true)
    throw new Failure(await explainConflict(thrown, { resource, name, collection }))
  }
}

/** What a server keeps of an object is not for a manifest. */
function withoutBookkeeping(object: DynamicObject): DynamicObject {
  const { managedFields: _, resourceVersion: _1, uid: _2, creationTimestamp: _3, generation: _4, ...metadata } = object.metadata ?? {}
  return { ...object, metadata }
}
