// GET of a collection: the right state, in pages if asked.

import type { ApiError } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import { continueExpired, encodeContinueToken, listExpired } from '../api/options/continue-token.js'
import type { ListOptions } from '../api/options/list-options.js'
import type { ListVersion } from '../api/options/read-version.js'
import { rangeOf } from '../objects/keys.js'
import { type ListQuery, type ObjectPage, StateGoneError } from '../objects/list.js'
import type { Engine } from './engine.js'
import { makeSelected } from './on-demand.js'
import { awaitRevision } from './read-at.js'

/** What of a page is shown; one that was computed has no entries behind it. */
export interface ListedPage extends Omit<ObjectPage, 'objects'> {
  /** The token of the next page; empty at the end. */
  readonly continueToken: string
  readonly remainingItemCount: number | undefined
}

/** In which form the items are wanted, besides what the query says. */
export type WantedList = ListOptions & Pick<ListQuery, 'form'>

type StoredPage = ListedPage & ObjectPage

export function list(engine: Engine, call: Call, options: WantedList): StoredPage | Promise<StoredPage> {
  const waiting = freshness(engine, options)
  return waiting instanceof Promise ? call.waitFor(waiting).then(() => listMade(engine, call, options)) : listMade(engine, call, options)
}

function listMade(engine: Engine, call: Call, options: WantedList): StoredPage | Promise<StoredPage> {
  const made = makeSelected(engine, call, options.selection.fields)
  return made === undefined ? listNow(engine, call, options) : made.then(() => listNow(engine, call, options))
}

function freshness(engine: Engine, { version, limit }: ListOptions): unknown {
  switch (version.mode) {
    case 'most-recent':
      return engine.store.readIndex()
    case 'any':
      return undefined
    case 'not-older-than':
    case 'exact':
      return awaitRevision(engine.store, version, { comesAgain: limit === 0 })
    case 'continue':
      return version.token.resourceVersion === undefined
        ? engine.store.readIndex()
        : awaitRevision(engine.store, { resourceVersion: version.token.resourceVersion })
  }
}

function listNow(engine: Engine, call: Call, options: WantedList): StoredPage {
  const range = rangeOf(call.resource, call.namespace)
  try {
    const page = engine.store.list({
      resource: call.resource,
      namespace: call.namespace,
      selection: options.selection,
      limit: options.limit,
      form: options.form,
      ...position(options.version, range.start),
    })
    const token = (next: NonNullable<ObjectPage['next']>): string =>
      encodeContinueToken(
        {
          resourceVersion: page.revision,
          startKey: next.startKey.slice(range.start.length),
          ...(next.remaining === undefined ? {} : { remaining: next.remaining, countedIn: range.start }),
        },
        engine.identity,
      )
    return {
      ...page,
      continueToken: page.next === undefined ? '' : token(page.next),
      remainingItemCount: page.next?.remaining,
    }
  } catch (thrown) {
    if (thrown instanceof StateGoneError) throw gone(engine, options.version)
    throw thrown
  }
}

/** Where and when the page begins. */
function position(version: ListVersion, rangeStart: string): Pick<ListQuery, 'at' | 'startKey' | 'expectedCount'> {
  if (version.mode === 'exact') return { at: version.resourceVersion }
  if (version.mode !== 'continue') return {}
  const { token } = version
  const from = { startKey: rangeStart + token.startKey }
  if (token.resourceVersion === undefined) return from // the continuation of an expired list: the state of now, from the same place
  return {
    ...from,
    at: token.resourceVersion,
    ...(token.remaining === undefined || token.countedIn !== rangeStart ? {} : { expectedCount: token.remaining }),
  }
}

/** The state is no longer kept. A client that was paging gets a token to go on with the newest state, if it can live with that. */
function gone({ identity }: Engine, version: ListVersion): ApiError {
  if (version.mode !== 'continue') return listExpired()
  return continueExpired({ startKey: version.token.startKey, resourceVersion: undefined }, identity)
}
