// GET of a collection: resourceVersion, continue token and remainingItemCount of a page.

import type { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { continueExpired, encodeContinueToken, listExpired } from '@cluster-apiserver/api/api/options/continue-token.js'
import type { ListOptions } from '@cluster-apiserver/api/api/options/list-options.js'
import type { ListVersion } from '@cluster-apiserver/api/api/options/resource-version-match.js'
import { isExpiredRevision, type ListPage, type ListQuery } from '../objects/list/list-page.js'
import { rangeOf } from '../objects/object-keys.js'
import { createSelectedOnDemand, type Engine } from './engine.js'
import { awaitRevision } from './get.js'

export interface ListedPage extends Omit<ListPage, 'batches'> {
  /** Empty on the last page. */
  readonly continueToken: string
  readonly remainingItemCount: number | undefined
}

export type ListRequest = ListOptions & Pick<ListQuery, 'encoding'>

export async function list(engine: Engine, call: Call, options: ListRequest): Promise<ListedPage & ListPage> {
  await awaitVersion(engine, call, options)
  await createSelectedOnDemand(engine, call, options.selection.fields)
  const range = rangeOf(call.resource, call.namespace)
  try {
    const page = await engine.store.listPage({
      resource: call.resource,
      namespace: call.namespace,
      selection: options.selection,
      limit: selectsOneKey(call, options) ? 0 : options.limit,
      encoding: options.encoding,
      check: () => call.throwIfAborted(),
      ...position(options.version, range.start),
    })
    return withToken(engine, page, range)
  } catch (thrown) {
    throw asListError(engine, options.version, thrown)
  }
}

/** A first page of a selected name reads one key, so there is no next page. */
const selectsOneKey = ({ resource, namespace }: Call, { selection, version }: ListOptions): boolean =>
  (!resource.namespaced || namespace !== '') && version.mode !== 'continue' && selection.fields?.exactValue('metadata.name') !== undefined

/** 410 Expired for a compacted revision; compaction may happen while items are read. */
export const asListError = (engine: Engine, version: ListVersion, thrown: unknown): unknown =>
  isExpiredRevision(thrown) ? expiredError(engine, version) : thrown

async function awaitVersion({ store }: Engine, call: Call, { version, limit }: ListOptions): Promise<void> {
  if (version.mode === 'not-older-than' || version.mode === 'exact')
    await awaitRevision(store, call, version, { hasRetryAfter: limit === 0 && version.mode !== 'exact' })
  if (version.mode === 'most-recent') await store.readIndex(call)
  if (version.mode !== 'continue') return
  const { resourceVersion } = version.token
  if (resourceVersion === undefined) await store.readIndex(call)
  else await awaitRevision(store, call, { resourceVersion })
}

function withToken(engine: Engine, page: ListPage, { start }: { readonly start: string }): ListedPage & ListPage {
  const token = (next: NonNullable<ListPage['next']>): string =>
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
    remainingItemCount: engine.gates('RemainingItemCount') ? page.next?.remaining : undefined,
  }
}

function position(version: ListVersion, rangeStart: string): Pick<ListQuery, 'at' | 'startKey' | 'expectedCount'> {
  if (version.mode === 'exact') return { at: version.resourceVersion }
  if (version.mode !== 'continue') return {}
  const { token } = version
  const from = { startKey: rangeStart + token.startKey }
  if (token.resourceVersion === undefined) return from // continues an expired list at the newest revision
  return {
    ...from,
    at: token.resourceVersion,
    ...(token.remaining === undefined || token.countedIn !== rangeStart ? {} : { expectedCount: token.remaining }),
  }
}

/** 410 Expired. A client that was paging gets a token to continue at the newest revision. */
function expiredError({ identity }: Engine, version: ListVersion): ApiError {
  if (version.mode !== 'continue') return listExpired()
  return continueExpired({ startKey: version.token.startKey, resourceVersion: undefined }, identity)
}
