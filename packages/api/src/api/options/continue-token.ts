// The token between two pages of a list: opaque to clients, and what the server needs to go on where the last page ended.

import { shorten } from '../../base/shorten.js'
import { ApiError, badRequest } from '../api-error.js'
import type { Identity } from '../identity.js'

export interface ContinueToken {
  /** The state that the pages show; undefined: the present one, after the state of the first page was no longer kept. */
  readonly resourceVersion: number | undefined
  /** Where the next page begins, relative to the collection: `namespace/name`. */
  readonly startKey: string
  /** How many objects there are from there on, if the page before knew; only in the collection of which it counted them. */
  readonly remaining?: number
  readonly countedIn?: string
}

const tokenVersion = (identity: Identity): string => `${identity.group({ stem: 'meta' })}/v1`
const present = -1

export function encodeContinueToken(token: ContinueToken, identity: Identity): string {
  const json = JSON.stringify({
    v: tokenVersion(identity),
    rv: token.resourceVersion ?? present,
    start: token.startKey,
    ...(token.remaining === undefined ? {} : { left: token.remaining, of: token.countedIn }),
  })
  return btoa(escapeNonAscii(json)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Throws a BadRequest: whoever sends a token that no answer gave is told so. */
export function decodeContinueToken(text: string, identity: Identity): ContinueToken {
  const { v, rv, start, left, of } = parseToken(decodeBase64(text))
  if (v !== tokenVersion(identity)) throw badToken(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < present)
    throw badToken(`incorrect encoded start resourceVersion (version ${v})`)
  if (typeof start !== 'string' || start === '') throw badToken(`encoded start key empty (version ${v})`)
  if (!isInside(start)) throw badToken(start)
  const isCount = typeof left === 'number' && Number.isSafeInteger(left) && left >= 0 && typeof of === 'string'
  const remaining = isCount ? { remaining: left, countedIn: of } : {}
  return { resourceVersion: rv === present ? undefined : rv, startKey: start, ...remaining }
}

/** The state of the token's list is gone; `fresh` continues with the present one, for whoever can live with that. */
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

/** The wanted state of a list is no longer kept. */
export const listExpired = (): ApiError =>
  new ApiError({ code: 410, reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' })

const badToken = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid: ${shorten(why)}`)

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

/** A key that climbs out of its collection, or is not in its plain form, was made by somebody else. */
const isInside = (key: string): boolean => key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')

/** Base64 takes bytes, and a name may have other letters. */
const escapeNonAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
