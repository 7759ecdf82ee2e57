// resourceVersion and resourceVersionMatch of get, list and watch: most recent, any, not older than, exact, continue.

import { badRequest } from '../api-error.js'
import { parseUint64 } from '../integer.js'
import type { ContinueToken } from './continue-token.js'
import { badParameter } from './query-parameters.js'

interface MostRecent {
  readonly mode: 'most-recent'
}

interface AnyVersion {
  readonly mode: 'any'
}

/** Versions beyond 2^53 are rounded: no store has reached them. */
export interface RequestedVersion {
  readonly resourceVersion: number
  readonly requested?: string
}

interface NotOlderThan extends RequestedVersion {
  readonly mode: 'not-older-than'
}

/** A list shows the state at this version; a watch starts with the changes after it. */
interface ExactVersion extends RequestedVersion {
  readonly mode: 'exact'
}

interface ContinuedVersion {
  readonly mode: 'continue'
  readonly token: ContinueToken
}

export type GetVersion = MostRecent | AnyVersion | NotOlderThan
export type ListVersion = MostRecent | AnyVersion | NotOlderThan | ExactVersion | ContinuedVersion
export type WatchStart = MostRecent | AnyVersion | ExactVersion

export const mostRecent: MostRecent = { mode: 'most-recent' }
const anyVersion: AnyVersion = { mode: 'any' }

function parseResourceVersion(text: string): RequestedVersion {
  const value = parseUint64(text)
  if (value === undefined) throw badParameter('resourceVersion', text, 'must be the resourceVersion of an earlier response')
  const resourceVersion = Number(value)
  return Number.isSafeInteger(resourceVersion) ? { resourceVersion } : { resourceVersion, requested: String(value) }
}

export function getVersion(text: string | undefined): GetVersion {
  if (text === undefined) return mostRecent
  const version = parseResourceVersion(text)
  return version.resourceVersion === 0 ? anyVersion : { mode: 'not-older-than', ...version }
}

export function watchStart(text: string | undefined): WatchStart {
  if (text === undefined) return mostRecent
  const version = parseResourceVersion(text)
  return version.resourceVersion === 0 ? anyVersion : { mode: 'exact', ...version }
}

interface ListVersionRequest {
  readonly resourceVersion: string | undefined
  readonly match: string | undefined
  readonly hasLimit: boolean
  readonly token: ContinueToken | undefined
}

export function listVersion(request: ListVersionRequest): ListVersion {
  const version = request.resourceVersion === undefined ? undefined : parseResourceVersion(request.resourceVersion)
  if (request.token !== undefined) {
    if (version !== undefined && version.resourceVersion !== 0)
      throw badRequest('specifying resource version is not allowed when using continue')
    return { mode: 'continue', token: request.token }
  }
  if (version === undefined) return mostRecent
  if (version.resourceVersion === 0) return anyVersion
  const isExact = request.match === 'Exact' || (request.match === undefined && request.hasLimit)
  return { mode: isExact ? 'exact' : 'not-older-than', ...version }
}
