// Bearer token authentication: token authenticators in their order, and a cache keyed by a hash, so that lookup time reveals no token.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import type { Authenticated, AuthenticationCounters, Authenticator, Refused } from '../authenticate.js'

export interface PresentedToken {
  /** Bytes of the token as Latin-1. */
  readonly text: string
  readonly digest: string
  /** Required audiences: the audiences of a TokenReview, otherwise of this server. */
  readonly audiences: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
  /** Called before a remote check; throws 429 if too many tokens wait for remote checks. */
  readonly beforeRemoteCheck?: () => void
}

export interface AuthenticatedToken extends Authenticated {
  readonly isValid?: (now: number) => boolean
}

/** Resolves with undefined if the token is not of the authenticator's type, or is rejected without a reason. */
export type TokenAuthenticator = (token: PresentedToken) => Promise<TokenResult>
export type TokenResult = AuthenticatedToken | Refused | undefined

interface BearerOptions {
  readonly authenticators: readonly TokenAuthenticator[]
  /** Audiences of this server. */
  readonly audiences: readonly string[]
  readonly clock: Clock
  readonly digests: TokenDigests
  readonly counter?: AuthenticationCounters['tokens']
}

const maxCachedTokens = 16_384
/** Maximum number of slots of requests that wait for remote checks. They are not authenticated yet and take about 20 kB each. */
const maxPendingSlots = 2000
/** A longer token takes one slot per this many characters, because the server keeps several copies of it. */
const charsPerSlot = 8 << 10
/** Results with more values or characters go to the smaller cache. */
const maxSmallResult = { values: 128, chars: 8 << 10 }
const maxLargeCachedTokens = 256
const maxCachedChars = 64 << 10
const invalidToken = 'invalid bearer token'

interface ConnectionToken {
  readonly token: string
  /** Bytes of the token, only if it is long. */
  readonly bytes: Buffer | undefined
  readonly digest: string
}

export class TokenDigests {
  readonly #key = randomBytes(32).toString('hex')
  readonly #reviewKey = randomBytes(32).toString('hex')
  /** Last token of each connection. Clients repeat it with every request, and hashing costs 5 % of a GET. */
  readonly #last = new WeakMap<object, ConnectionToken>()

  digestOf(token: string, connection?: object): string {
    if (connection === undefined || token.length > maxComparedChars) return this.#hash(token)
    const last = this.#last.get(connection)
    if (last !== undefined && isSameToken(last, token)) return last.digest
    const digest = this.#hash(token)
    const bytes = token.length > maxShortTokenChars ? Buffer.from(token, 'latin1') : undefined
    this.#last.set(connection, { token, bytes, digest })
    return digest
  }

  #hash(token: string): string {
    return hash('sha256', this.#key + token, 'base64')
  }

  /** Separate key space for tokens of a TokenReview with audiences: they must not match cached tokens of requests. */
  reviewDigestOf(token: string, audiences: readonly string[]): string {
    return hash('sha256', this.#reviewKey + JSON.stringify([audiences, token]), 'base64')
  }
}

/** Longer tokens, which are rare, are hashed with every request. */
const maxComparedChars = 4096
/** Shorter tokens are compared by character. For an RSA-signed token that takes 20 µs, timingSafeEqual 2 µs, a hash 4 µs. */
const maxShortTokenChars = 64
const scratch = Buffer.allocUnsafeSlow(maxComparedChars)

/** Compares in constant time: requests of several users may share one connection of a proxy. */
function isSameToken({ token, bytes }: ConnectionToken, other: string): boolean {
  if (token.length !== other.length) return false
  if (bytes === undefined) return isSameSecret(token, other)
  // Header values are Latin-1.
  return timingSafeEqual(scratch.subarray(0, scratch.write(other, 0, 'latin1')), bytes)
}

function isSameSecret(first: string, second: string): boolean {
  let difference = 0
  for (let i = 0; i < first.length; i++) difference |= first.charCodeAt(i) ^ second.charCodeAt(i)
  return difference === 0
}

export function bearerTokens({ authenticators, audiences: serverAudiences, clock, digests, counter }: BearerOptions): Authenticator {
  const cache = new RecentMap<string, AuthenticatedToken>(maxCachedTokens)
  const largeCache = new RecentMap<string, AuthenticatedToken>(maxLargeCachedTokens)
  const pending = new Map<string, Promise<TokenResult>>()
  let pendingSlots = 0
  const checkPendingSlots = (slots: number): void => {
    if (pendingSlots - slots >= maxPendingSlots)
      throw tooManyRequests('too many requests wait to be authenticated, please try again later', 1)
  }

  const findCached = (key: string, now: number): AuthenticatedToken | undefined => {
    const cached = cache.get(key) ?? largeCache.get(key)
    if (cached === undefined || (cached.isValid?.(now) ?? true)) return cached
    cache.delete(key)
    largeCache.delete(key)
    return undefined
  }
  const addToCache = (key: string, result: TokenResult): TokenResult => {
    if (result?.user !== undefined) {
      const { values, chars } = sizeOf(result)
      if (values <= maxSmallResult.values && chars <= maxSmallResult.chars) cache.set(key, result)
      else if (chars <= maxCachedChars) largeCache.set(key, result)
    }
    if (counter !== undefined) counter[result?.user === undefined ? 'error' : 'ok']++
    return result
  }
  const authenticateOnce = async (key: string, token: Omit<PresentedToken, 'beforeRemoteCheck'>, slots: number): Promise<TokenResult> => {
    pendingSlots += slots
    if (counter !== undefined) counter.inFlight++
    try {
      return addToCache(key, await authenticateToken(authenticators, { ...token, beforeRemoteCheck: () => checkPendingSlots(slots) }))
    } finally {
      pendingSlots -= slots
      pending.delete(key)
      if (counter !== undefined) counter.inFlight--
    }
  }
  const waitForPending = async (result: Promise<TokenResult>, slots: number): Promise<TokenResult> => {
    checkPendingSlots(0)
    pendingSlots += slots
    if (counter !== undefined) counter.blocked++
    try {
      return await result
    } finally {
      pendingSlots -= slots
      if (counter !== undefined) counter.blocked--
    }
  }

  const authenticateUncached = async (
    key: string,
    token: Omit<PresentedToken, 'beforeRemoteCheck'>,
    startMs: number,
  ): Promise<TokenResult> => {
    const slots = Math.max(1, Math.ceil(token.text.length / charsPerSlot))
    try {
      const running = pending.get(key)
      if (running !== undefined) return await waitForPending(running, slots)
      const result = authenticateOnce(key, token, slots)
      pending.set(key, result)
      return await result
    } finally {
      counter?.miss.add((performance.now() - startMs) / 1000)
    }
  }

  return ({ bearerToken, audiences, connection }) => {
    if (bearerToken === '') return undefined
    const startMs = performance.now()
    const digest = digests.digestOf(bearerToken, connection)
    const key = audiences === undefined ? digest : digests.reviewDigestOf(bearerToken, audiences)
    const now = clock.now()
    const cached = findCached(key, now)
    if (cached === undefined)
      return authenticateUncached(key, { text: bearerToken, digest, audiences: audiences ?? serverAudiences, now }, startMs)
    counter?.hit.add((performance.now() - startMs) / 1000)
    return cached
  }
}

function sizeOf({ user: { groups, extra }, audiences = [] }: AuthenticatedToken): { readonly values: number; readonly chars: number } {
  let values = 0
  let chars = 0
  const count = (texts: readonly string[]): void => {
    values += texts.length
    for (const text of texts) chars += text.length
  }
  count(groups)
  count(audiences)
  for (const key in extra) {
    values++
    chars += key.length
    count(extra[key] ?? [])
  }
  return { values, chars }
}

async function authenticateToken(authenticators: readonly TokenAuthenticator[], token: PresentedToken): Promise<TokenResult> {
  const problems = [invalidToken]
  for (const authenticate of authenticators) {
    const found = await authenticate(token)
    if (found?.user !== undefined) return found
    problems.push(...(found?.problems ?? []))
  }
  return { problems }
}

/** Tokens without audiences are valid for the audiences of this server. Returns undefined if none of those is requested. */
export function matchingAudiences(
  serverAudiences: readonly string[],
  { audiences }: Pick<PresentedToken, 'audiences'>,
): readonly string[] | undefined {
  const audiencesInBoth = intersect(audiences, serverAudiences)
  return audiencesInBoth.length === 0 && serverAudiences.length > 0 ? undefined : audiencesInBoth
}

/** Values of the first list that are in the second, in linear time. */
export function intersect(texts: readonly string[], others: readonly string[]): readonly string[] {
  const otherSet = new Set(others)
  return texts.filter((text) => otherSet.has(text))
}
