// Bearer tokens: the authenticators of tokens in their order, and what was found out about a token before.
//
// Checking a signature or asking somebody is done once for a token. Later requests look it up by its hash under a key that only this process
// knows (how long that takes says nothing about how much of a guess was right), and ask whether what was found still holds.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { tooManyRequests } from '../api/api-error.js'
import type { Clock } from '../base/clock.js'
import { RecentMap } from '../base/recent-map.js'
import type { Authenticated, Authenticator, Refused } from './authenticate.js'
import type { AuthenticationTallies } from './tallies.js'

export interface PresentedToken {
  readonly text: string
  /** Of the text, under the key of this process. */
  readonly digest: string
  /** Whom it shall be meant for; all that this server goes by where nobody asked for others. */
  readonly audiences: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
  /** To be called before another server is asked about it; throws where too many wait for such an answer already. */
  readonly beforeAsking?: () => void
}

/** Whose a token is, and how long that may be remembered. */
export interface TokenFinding extends Authenticated {
  /** Asked at every later request; left out: it holds as long as the server runs. */
  readonly holds?: (now: number) => boolean
}

/** Undefined when the token is not of this sort. */
export type TokenAuthenticator = (token: PresentedToken) => TokenResult | Promise<TokenResult>
export type TokenResult = TokenFinding | Refused | undefined

export interface BearerOptions {
  /** In the order in which they are asked. */
  readonly authenticators: readonly TokenAuthenticator[]
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
  readonly clock: Clock
  readonly digests: TokenDigests
  readonly tally?: AuthenticationTallies['tokens']
}

const mostKept = 16_384
/**
 * How many requests may wait for what others say about their tokens: nobody knows yet who they are, so that no other bound holds for them. Each takes
 * some twenty kilobytes.
 */
const mostWaiting = 2000
/** It is held in several forms until it was answered: one that is longer counts as several. */
const lettersOfOne = 8 << 10
/**
 * Findings of more groups, audiences and extra values, or of more letters in them, are large, and few of them are kept: a token may name thousands,
 * and a review one of them many times.
 */
const mostSmall = { parts: 128, letters: 8 << 10 }
const mostLargeKept = 256
/** What has more is not kept at all. */
const mostKeptLetters = 64 << 10
const noSuchToken = 'invalid bearer token'

interface Digested {
  readonly token: string
  /** The same in bytes, where it is long. */
  readonly bytes: Buffer | undefined
  readonly digest: string
}

/** Hashes of tokens under a key of this process. */
export class TokenDigests {
  readonly #key = randomBytes(32).toString('hex')
  readonly #reviewKey = randomBytes(32).toString('hex')
  /** The last token of each connection: clients send the same one with every request, and to hash it is a twentieth of a GET. */
  readonly #last = new WeakMap<object, Digested>()

  of(token: string, connection?: object): string {
    if (connection === undefined || token.length > mostCompared) return this.#hash(token)
    const last = this.#last.get(connection)
    if (last !== undefined && isSameAs(last, token)) return last.digest
    const digest = this.#hash(token)
    const bytes = token.length > mostByLetter ? Buffer.from(token, 'latin1') : undefined
    this.#last.set(connection, { token, bytes, digest })
    return digest
  }

  #hash(token: string): string {
    return hash('sha256', this.#key + token, 'base64')
  }

  /** Of a token for audiences that a review named, so that no token of a request can be taken for it. */
  ofReview(token: string, audiences: readonly string[]): string {
    return hash('sha256', this.#reviewKey + JSON.stringify([audiences, token]), 'base64')
  }
}

/** Longer ones than any that is signed are hashed each time. */
const mostCompared = 4096
/** Short ones are compared letter by letter; with an RSA signature that takes 20 µs, the platform's comparison of bytes 2, and a hash 4. */
const mostByLetter = 64
const scratch = Buffer.allocUnsafeSlow(mostCompared)

/** In a time that does not tell where they differ: requests of several users may come over one connection of a proxy. */
function isSameAs({ token, bytes }: Digested, other: string): boolean {
  if (token.length !== other.length) return false
  if (bytes === undefined) return isSameSecret(token, other)
  // Headers have characters of one byte.
  return timingSafeEqual(scratch.subarray(0, scratch.write(other, 0, 'latin1')), bytes)
}

function isSameSecret(one: string, other: string): boolean {
  let difference = 0
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}

export function bearerTokens({ authenticators, audiences: own, clock, digests, tally }: BearerOptions): Authenticator {
  const kept = new RecentMap<string, TokenFinding>(mostKept)
  const largeKept = new RecentMap<string, TokenFinding>(mostLargeKept)
  const pending = new Map<string, Promise<TokenResult>>()
  let waiting = 0
  const beforeAsking = (): void => {
    if (waiting >= mostWaiting) throw tooManyRequests('too many requests wait to be authenticated, please try again later', 1)
  }

  const find = (key: string, now: number): TokenFinding | undefined => {
    const known = kept.get(key) ?? largeKept.get(key)
    if (known === undefined || (known.holds?.(now) ?? true)) return known
    kept.delete(key)
    largeKept.delete(key)
    return undefined
  }
  const keep = (key: string, result: TokenResult): TokenResult => {
    if (result?.user !== undefined) {
      const { parts, letters } = sizeOf(result)
      if (parts <= mostSmall.parts && letters <= mostSmall.letters) kept.set(key, result)
      else if (letters <= mostKeptLetters) largeKept.set(key, result)
    }
    if (tally !== undefined) tally[result?.user === undefined ? 'error' : 'ok']++
    return result
  }
  /** Whoever comes with the same token meanwhile waits for the same answer. */
  const share = (key: string, found: Promise<TokenResult>, weight: number): Promise<TokenResult> => {
    const answer = found
      .then((result) => keep(key, result))
      .finally(() => {
        waiting -= weight
        pending.delete(key)
        if (tally !== undefined) tally.inFlight--
      })
    waiting += weight
    if (tally !== undefined) tally.inFlight++
    pending.set(key, answer)
    return answer
  }
  const wait = (answer: Promise<TokenResult>, weight: number): Promise<TokenResult> => {
    beforeAsking()
    waiting += weight
    if (tally !== undefined) tally.blocked++
    return answer.finally(() => {
      waiting -= weight
      if (tally !== undefined) tally.blocked--
    })
  }

  const authenticate: Authenticator = ({ bearerToken, audiences, connection }) => {
    const digest = digests.of(bearerToken, connection)
    const key = audiences === undefined ? digest : digests.ofReview(bearerToken, audiences)
    const now = clock.now()
    const known = find(key, now)
    if (known !== undefined) return known
    const asked = pending.get(key)
    const weight = Math.max(1, Math.ceil(bearerToken.length / lettersOfOne))
    if (asked !== undefined) return wait(asked, weight)
    const found = askAll(authenticators, { text: bearerToken, digest, audiences: audiences ?? own, now, beforeAsking })
    return found instanceof Promise ? share(key, found, weight) : keep(key, found)
  }
  return tally === undefined ? withToken(authenticate) : withToken(timed(authenticate, tally))
}

function sizeOf({ user: { groups, extra }, audiences = [] }: TokenFinding): { readonly parts: number; readonly letters: number } {
  let parts = 0
  let letters = 0
  const count = (texts: readonly string[]): void => {
    parts += texts.length
    for (const text of texts) letters += text.length
  }
  count(groups)
  count(audiences)
  for (const key in extra) {
    parts++
    letters += key.length
    count(extra[key] ?? [])
  }
  return { parts, letters }
}

const withToken =
  (authenticate: Authenticator): Authenticator =>
  (credentials) =>
    credentials.bearerToken === '' ? undefined : authenticate(credentials)

/** What is known takes no time to speak of, and what is not is checked before it is told. */
const timed =
  (authenticate: Authenticator, tally: AuthenticationTallies['tokens']): Authenticator =>
  (credentials) => {
    const begunMs = performance.now()
    const checked = tally.ok + tally.error
    const found = authenticate(credentials)
    if (found instanceof Promise) return found.finally(() => tally.miss.add((performance.now() - begunMs) / 1000))
    tally[checked === tally.ok + tally.error ? 'hit' : 'miss'].add((performance.now() - begunMs) / 1000)
    return found
  }

/** All reasons against it are told, beginning with the plainest. */
function askAll(
  authenticators: readonly TokenAuthenticator[],
  token: PresentedToken,
  from = 0,
  problems: readonly string[] = [noSuchToken],
): TokenResult | Promise<TokenResult> {
  let known = problems
  for (let i = from; i < authenticators.length; i++) {
    const found = (authenticators[i] as TokenAuthenticator)(token)
    if (found instanceof Promise) {
      const before = known
      return found.then((late) =>
        late?.user === undefined ? askAll(authenticators, token, i + 1, [...before, ...(late?.problems ?? [])]) : late,
      )
    }
    if (found?.user !== undefined) return found
    if (found !== undefined) known = [...known, ...found.problems]
  }
  return { problems: known }
}

/** Those who issue tokens that name no audience mean this server: they are good for whoever asks for one of its names. */
export function meantHere(own: readonly string[], { audiences }: Pick<PresentedToken, 'audiences'>): readonly string[] | undefined {
  const meant = inBoth(audiences, own)
  return meant.length === 0 && own.length > 0 ? undefined : meant
}

/** Those of the first list that are in the second, in time that grows with both and not with one for each of the other. */
export function inBoth(texts: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return texts.filter((text) => known.has(text))
}
