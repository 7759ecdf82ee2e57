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

export interface NotOlderThan {
  readonly mode: 'not-older-than'
  readonly resourceVersion: number
}

/** That very state; for a watch, the changes after it. */
export interface ExactVersion {
  readonly mode: 'exact'
  readonly resourceVersion: number
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

/** The number of a version that a client sent; versions past 2^53 are rounded, and in the future of any store. */
export function parseResourceVersion(text: string): number {
  const value = parseUint64(text)
  if (value === undefined) throw badParameter('resourceVersion', text, 'must be the resourceVersion of an earlier answer')
  return Number(value)
}

export function getVersion(text: string | undefined): GetVersion {
  if (text === undefined) return mostRecent
  const resourceVersion = parseResourceVersion(text)
  return resourceVersion === 0 ? anyVersion : { mode: 'not-older-than', resourceVersion }
}

export function watchStart(text: string | undefined): WatchStart {
  if (text === undefined) return mostRecent
  const resourceVersion = parseResourceVersion(text)
  return resourceVersion === 0 ? anyVersion : { mode: 'exact', resourceVersion }
}

export interface ListVersionRequest {
  readonly resourceVersion: string | undefined
  /** Already found to be allowed together with the rest. */
  readonly match: string | undefined
  readonly hasLimit: boolean
  readonly token: ContinueToken | undefined
}

export function listVersion(request: ListVersionRequest): ListVersion {
  const resourceVersion = request.resourceVersion === undefined ? undefined : parseResourceVersion(request.resourceVersion)
  if (request.token !== undefined) {
    if (resourceVersion) throw badRequest('specifying resource version is not allowed when using continue')
    return { mode: 'continue', token: request.token }
  }
  if (resourceVersion === undefined) return mostRecent
  if (resourceVersion === 0) return anyVersion
  const isExact = request.match === 'Exact' || (request.match === undefined && request.hasLimit)
  return { mode: isExact ? 'exact' : 'not-older-than', resourceVersion }
}
