// Writes that make an object where there is none, and change the one that there is: somebody else may make or delete it meanwhile. Whoever was
// overtaken so has done nothing yet, and looks again.

import { ApiError } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { StoredObject } from '../objects/stored-object.js'
import { addressOf, type Engine } from './engine.js'

/** How often somebody may be quicker. */
export const maxOvertaken = 25

/** Whether a write failed because the object that it began with has come, or gone. Others may answer with the same words: the store decides. */
export function isOvertaken(engine: Engine, call: Call, current: StoredObject | undefined, thrown: unknown): boolean {
  if (!(thrown instanceof ApiError)) return false
  const { code, reason } = thrown.status
  const isPossible = current === undefined ? reason === 'AlreadyExists' : code === 404
  return isPossible && (current === undefined) === (engine.store.read(addressOf(call)) !== undefined)
}
