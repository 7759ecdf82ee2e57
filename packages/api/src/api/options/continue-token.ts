// Continue token of a paged list: base64 of JSON with resourceVersion, start key and remaining count, opaque to clients.

import { shorten } from '../../base/shorten.js'
import { ApiError, badRequest } from '../api-error.js'
import type { Identity } from '../identity.js'

export interface ContinueToken {
  readonly resourceVersion: number | undefined
  readonly startKey: string
  /** remainingItemCount at the start of this page, if the previous page counted. */
  readonly remaining?: number
  /** Start key of the list that was counted; `remaining` is ignored in any other list. */
  readonly countedIn?: string
}

const tokenVersion = (identity: Identity): string => `${identity.group({ stem: 'meta' })}/v1`
const currentVersion = -1

export function encodeContinueToken(token: ContinueToken, identity: Identity): string {
  const json = JSON.stringify({
    v: tokenVersion(identity),
    rv: token.resourceVersion ?? currentVersion,
    start: token.startKey,
    ...(token.remaining === undefined ? {} : { left: token.remaining, of: token.countedIn }),
  })
  return btoa(escapeNonAscii(json)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Throws a BadRequest. */
export function decodeContinueToken(text: string, identity: Identity): ContinueToken {
  const { v, rv, start, left, of: countedIn } = parseToken(decodeBase64(text))
  if (v !== tokenVersion(identity)) throw badToken(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < currentVersion)
    throw badToken(`incorrect encoded start resourceVersion (version ${v})`)
  if (typeof start !== 'string' || start === '') throw badToken(`encoded start key empty (version ${v})`)
  if (!isCanonicalKey(start)) throw badToken(start)
  const isCount = typeof left === 'number' && Number.isSafeInteger(left) && left >= 0 && typeof countedIn === 'string'
  const remaining = isCount ? { remaining: left, countedIn } : {}
  return { resourceVersion: rv === currentVersion ? undefined : rv, startKey: start, ...remaining }
}

/** 410 Expired with a token (`fresh`) that continues at the current resourceVersion. */
export const continueExpired = (fresh: ContinueToken, identity: Identity): ApiError =>
  new ApiError({
    code: 410,
    reason: 'Expired',
    metadata: { continue: encodeContinueToken(fresh, identity) },
    message:
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
      'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided ' +
      'token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was ' +
      'returned and now may show up in the list.',
  })

export const listExpired = (): ApiError =>
  new ApiError({ code: 410, reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' })

const badToken = (detail: string): ApiError => badRequest(`invalid continue token: continue key is not valid: ${shorten(detail)}`)

function decodeBase64(text: string): string {
  const stray = text.search(/[^A-Za-z0-9_-]/)
  if (stray >= 0) throw badToken(`illegal base64 data at input byte ${stray}`)
  if (text.length % 4 === 1) throw badToken(`illegal base64 data at input byte ${text.length - 1}`)
  return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
}

function parseToken(json: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw badToken('it does not contain a JSON object')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badToken('it does not contain a JSON object')
  return value as Readonly<Record<string, unknown>>
}

/** Rejects keys with `.`, `..` or empty segments. */
const isCanonicalKey = (key: string): boolean => key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')

const escapeNonAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
