// Writes of the controllers. Steps on large objects run in worker threads, as for the requests of clients.

import { notFound } from '../api/api-error.js'
import type { ApiObject } from '../api/object.js'
import { remove } from '../verbs/delete.js'
import type { Engine } from '../verbs/engine.js'
import { patch } from '../verbs/patch.js'
import { update } from '../verbs/update.js'
import { type OwnTarget, ownCall } from './own-call.js'

/** A merge patch, of a subresource if the target names one; returns the revision afterwards if something was written. */
export async function patchOwn(engine: Engine, target: OwnTarget, merged: object): Promise<number | undefined> {
  const { result } = await patch(engine, ownCall(engine, target), { type: 'merge', patch: merged, duplicates: [] })
  return result.stored?.revision
}

/** Updates the object as it is stored now. The caller decided on the change in the same turn of the event loop. */
export async function updateOwn(engine: Engine, target: OwnTarget, change: (object: ApiObject) => ApiObject): Promise<void> {
  const { resource, namespace = '', name } = target
  const stored = engine.store.read({ resource, namespace, name })
  if (stored === undefined) throw notFound(resource.subject, name)
  await update(engine, ownCall(engine, target), { object: change(stored.decode(resource)) })
}

/** An apply configuration, as JSON. */
export async function applyOwn(engine: Engine, target: OwnTarget, configuration: string): Promise<void> {
  const call = ownCall(engine, target)
  const bytes = Buffer.from(configuration)
  call.noteBytes(bytes)
  await patch(engine, call, { type: 'apply', patch: JSON.parse(configuration), bytes, duplicates: [] })
}

/** Returns true if the object is gone now, false if finalizers hold it. */
export const removeOwn = async (engine: Engine, target: OwnTarget): Promise<boolean> =>
  (await remove(engine, ownCall(engine, target))).removed
