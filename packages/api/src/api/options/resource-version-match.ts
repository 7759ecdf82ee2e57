// Which state of the store a reader wants: the tables of `resourceVersion` for get, list and watch, as values.

import { badRequest } from '../api-error.js'
import { parseUint64 } from '../integer.js'
import type { ContinueToken } from './continue-token.js'
import { badParameter } from './parameters.js'

/** The latest state, for certain. */
export interface MostRecent {
  readonly mode: 'most-recent'
}

/** Any state that is at hand. */
export interface AnyVersion {
  readonly mode: 'any'
}

/** The number of a version that a client sent; one past 2^53 is rounded, and in the future of any store. */
export interface AskedVersion {
  readonly resourceVersion: number
  /** What the client wrote, where the number is rounded. */
  readonly asked?: string
}

export interface NotOlderThan extends AskedVersion {
  readonly mode: 'not-older-than'
}

/** That very state; for a watch, the changes after it. */
export interface ExactVersion extends AskedVersion {
  readonly mode: 'exact'
}

/** The state in which an earlier page was read, from where that page ended. */
export interface ContinuedVersion {
  readonly mode: 'continue'
  readonly token: ContinueToken
}

export type GetVersion = MostRecent | AnyVersion | NotOlderThan
export type ListVersion = MostRecent | AnyVersion | NotOlderThan | ExactVersion | ContinuedVersion
export type WatchStart = MostRecent | AnyVersion | ExactVersion

export const mostRecent: MostRecent = { mode: 'most-recent' }
export const anyVersion: AnyVersion = { mode: 'any' }

function parseResourceVersion(text: string): AskedVersion {
  const value = parseUint64(text)
  if (value === undefined) throw badParameter('resourceVersion', text, 'must be the resourceVersion of an earlier answer')
  const resourceVersion = Number(value)
  return Number.isSafeInteger(resourceVersion) ? { resourceVersion } : { resourceVersion, asked: String(value) }
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

export interface ListVersionRequest {
  readonly resourceVersion: string | undefined
  /** Already found to be allowed together with the rest. */
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
