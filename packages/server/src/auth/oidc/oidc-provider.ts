// An issuer of OpenID Connect tokens: where its keys are, and which they are now. They are fetched when the first token comes, once an hour, and at
// once when no known key verifies a token; requests that come meanwhile share the fetch. Keys stay known while the issuer is unreachable.

import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import { inPieces } from '../base/pieces.js'
import { type VerifyingKey, verifyingKey } from './jwt.js'

export interface ProviderOptions {
  readonly issuer: string
  /** Gets a document; rejects with one sentence. */
  readonly get: (url: string) => Promise<string>
  readonly algorithms: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

export interface PublishedKey extends VerifyingKey {
  /** As the issuer calls it; empty: it does not. */
  readonly kid: string
}

/** Between two attempts to get the first keys, to renew known ones, and between two warnings about failed ones. */
const leastPauseMs = 5000
/** Keys that were taken away by the issuer are believed for so long. */
const keysLastMs = 3_600_000
const mostKeys = 64

export class OidcProvider {
  readonly #options: ProviderOptions
  #keys: readonly PublishedKey[] | undefined
  #fetchedMs = Number.NEGATIVE_INFINITY
  #triedMs = Number.NEGATIVE_INFINITY
  #warnedMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  /** Known keys that may have signed a token with this key id; undefined: the issuer was not reached yet. */
  async keysFor(kid: string): Promise<readonly PublishedKey[] | undefined> {
    const now = this.#options.clock.now()
    const isTriedLately = now - this.#triedMs < leastPauseMs && now >= this.#triedMs
    if (this.#keys === undefined) await (isTriedLately ? this.#fetching : this.#fetch(now))
    else if (now - this.#fetchedMs > keysLastMs && !isTriedLately) void this.#fetch(now)
    return this.#keys && this.#matching(kid)
  }

  /** The same after the keys were fetched again, because no known one verifies a token. If that fails, the known keys stay. */
  async fetchKeysFor(kid: string): Promise<readonly PublishedKey[]> {
    await this.#fetch(this.#options.clock.now())
    return this.#matching(kid)
  }

  #matching(kid: string): readonly PublishedKey[] {
    return (this.#keys ?? []).filter((key) => kid === '' || key.kid === kid)
  }

  /** Resolves in any case; a failure is logged. */
  #fetch(now: number): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching
    this.#triedMs = now
    this.#fetching = this.#read()
      .then((keys) => {
        this.#keys = keys
        this.#fetchedMs = now
      })
      .catch((thrown: unknown) => this.#warn(now, thrown instanceof Error ? thrown.message : String(thrown)))
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
  }

  /** Forged tokens may cause any number of fetches: they must not fill the log. */
  #warn(now: number, error: string): void {
    if (now - this.#warnedMs < leastPauseMs && now >= this.#warnedMs) return
    this.#warnedMs = now
    const { logger, issuer } = this.#options
    logger.warn({ issuer, error }, 'cannot get the keys of the OpenID Connect issuer; will try again')
  }

  async #read(): Promise<readonly PublishedKey[]> {
    const { issuer, get, algorithms } = this.#options
    const { issuer: named, jwks_uri: address } = readObject(await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
    if (named !== issuer) throw new Error(`it calls itself ${JSON.stringify(named)}`)
    if (typeof address !== 'string' || !address.startsWith('https://')) throw new Error('it has no https:// address for its keys')
    const { keys } = readObject(await get(address))
    if (!Array.isArray(keys)) throw new Error('its keys are no list')
    return await inPieces(readKeys(keys.slice(0, mostKeys), algorithms))
  }
}

type Fields = { readonly [name: string]: unknown }

function readObject(text: string): Fields {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error('it answered with something that is no object')
  return value as Fields
}

/** To read one takes up to a millisecond. */
function* readKeys(values: readonly unknown[], accepted: readonly string[]): Generator<undefined, readonly PublishedKey[], void> {
  const keys: PublishedKey[] = []
  for (const value of values) {
    const key = readKey(value, accepted)
    if (key !== undefined) keys.push(key)
    yield undefined
  }
  return keys
}

/** Keys for other uses, and of sorts that are not known, are passed over. */
function readKey(value: unknown, accepted: readonly string[]): PublishedKey | undefined {
  const { kid, use, kty, ...rest } = (value ?? {}) as Fields
  if (use !== undefined && use !== 'sig') return undefined
  try {
    const key = verifyingKey(createPublicKey({ key: { kty, ...rest } as JsonWebKey, format: 'jwk' }))
    const algorithms = key.algorithms.filter((algorithm) => accepted.includes(algorithm))
    return { ...key, algorithms, kid: typeof kid === 'string' ? kid : '' }
  } catch {
    // What is no key of a known sort has signed nothing that is believed.
    return undefined
  }
}
