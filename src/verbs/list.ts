// GET of a collection: the right state, in pages if asked.

import type { ApiError } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import { continueExpired, encodeContinueToken, listExpired } from '../api/options/continue-token.js'
import type { ListOptions } from '../api/options/list-options.js'
import type { ListVersion } from '../api/options/read-version.js'
import { Pieces } from '../base/pieces.js'
import type { Promised } from '../base/promised.js'
import { isGone } from '../objects/gone.js'
import { rangeOf } from '../objects/keys.js'
import type { ListQuery, ObjectPage } from '../objects/list.js'
import type { Engine } from './engine.js'
import { makeSelected } from './on-demand.js'
import { awaitRevision } from './read-at.js'

/** What of a page is shown; one that was computed has no entries behind it. */
export interface ListedPage extends Omit<ObjectPage, 'objects' | 'steps'> {
  /** The token of the next page; empty at the end. */
  readonly continueToken: string
  readonly remainingItemCount: number | undefined
}

/** In which form the items are wanted, besides what the query says. */
export type WantedList = ListOptions & Pick<ListQuery, 'form'>

type StoredPage = ListedPage & ObjectPage

/** `pieces`: how the reading is cut; a list that takes no longer than one of them is there at once. */
export function list(engine: Engine, call: Call, options: WantedList, pieces = piecesOf(call)): Promised<StoredPage> {
  const waiting = freshness(engine, options)
  const read = (): Promised<StoredPage> => listMade(engine, call, { ...options, pieces })
  return waiting instanceof Promise ? call.waitFor(waiting).then(read) : read()
}

/** What a request does for long ends with it. */
export const piecesOf = (call: Call): Pieces => new Pieces(() => call.throwIfAborted())

type CutList = WantedList & { readonly pieces: Pieces }

function listMade(engine: Engine, call: Call, options: CutList): Promised<StoredPage> {
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

function listNow(engine: Engine, call: Call, options: CutList): Promised<StoredPage> {
  const range = rangeOf(call.resource, call.namespace)
  const refused = (thrown: unknown): never => {
    throw isGone(thrown) ? gone(engine, options.version) : thrown
  }
  try {
    const page = engine.store.listInPieces({
      resource: call.resource,
      namespace: call.namespace,
      selection: options.selection,
      limit: options.limit,
      form: options.form,
      pieces: options.pieces,
      ...position(options.version, range.start),
    })
    return page instanceof Promise ? page.then((read) => withToken(engine, read, range), refused) : withToken(engine, page, range)
  } catch (thrown) {
    return refused(thrown)
  }
}

function withToken(engine: Engine, page: ObjectPage, { start }: { readonly start: string }): StoredPage {
  const token = (next: NonNullable<ObjectPage['next']>): string =>
    encodeContinueToken(
      {
        resourceVersion: page.revision,
        startKey: next.startKey.slice(start.length),
        ...(next.remaining === undefined ? {} : { remaining: next.remaining, countedIn: start }),
      },
      engine.identity,
    )
  return {
    ...page,
    continueToken: page.next === undefined ? '' : token(page.next),
    remainingItemCount: page.next?.remaining,
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
