// GET of one object, as fresh as the caller asked.

import { badRequest, notFound, type Subject } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { GetOptions } from '../api/options/get-options.js'
import type { StoredObject } from '../objects/stored-object.js'
import { addressOf, type Engine } from './engine.js'
import { makeMissing } from './on-demand.js'
import { awaitRevision } from './read-at.js'
import { converting, fromStored, readyToDecode } from './versions.js'

/** Synchronous whenever nothing has to be waited for. */
export function get(engine: Engine, call: Call, options: GetOptions): StoredObject | Promise<StoredObject> {
  const waiting = freshness(engine, options)
  return waiting instanceof Promise ? call.waitFor(waiting).then(() => readNow(engine, call)) : readNow(engine, call)
}

function freshness(engine: Engine, { version }: GetOptions): number | undefined | Promise<unknown> {
  switch (version.mode) {
    case 'most-recent':
      return engine.store.readIndex()
    case 'any':
      return undefined
    case 'not-older-than':
      return awaitRevision(engine.store, version)
  }
}

function readNow(engine: Engine, call: Call): StoredObject | Promise<StoredObject> {
  const stored = engine.store.readOften(addressOf(call))
  if (stored !== undefined) return call.subresource?.view?.refusal === undefined ? stored : showable(call, stored)
  const made = makeMissing(engine, call)
  if (made === undefined) throw notFound(subjectOf(call), call.name)
  return made.then(() => {
    const object = engine.store.readOften(addressOf(call))
    if (object === undefined) throw notFound(subjectOf(call), call.name)
    return object
  })
}

/** The object, if the view has something to show of it. */
function showable(call: Call, stored: StoredObject): StoredObject | Promise<StoredObject> {
  const { resource, subresource } = call
  const waiting = readyToDecode(stored, resource)
  if (waiting !== undefined) return call.waitFor(waiting).then(() => showable(call, stored))
  const refusal = converting(call, () => subresource?.view?.refusal?.(fromStored(call, stored.decode(resource))))
  const check = (why: string | undefined): StoredObject => {
    if (why !== undefined) throw badRequest(why)
    return stored
  }
  return refusal instanceof Promise ? refusal.then(check) : check(refusal)
}

/** What another kind is shown for is named with the subresource that shows it. */
function subjectOf({ resource, subresource }: Call): Subject {
  return subresource?.view === undefined ? resource.subject : { ...resource.subject, resource: `${resource.name}/${subresource.name}` }
}
