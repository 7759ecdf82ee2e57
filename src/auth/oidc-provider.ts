// An issuer of OpenID Connect tokens: where its keys are, and which they are now. It is asked when a token of it comes, seldom, and by one request
// at a time; while it is down its users are refused at once, and nobody else notices.

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

/** Between two attempts to get keys. */
const leastPauseMs = 5000
/** Keys that were taken away by the issuer are believed for so long. */
const keysLastMs = 3_600_000
const mostKeys = 64

export class OidcProvider {
  readonly #options: ProviderOptions
  #keys: readonly PublishedKey[] | undefined
  #fetchedMs = Number.NEGATIVE_INFINITY
  #triedMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  /** Keys that may have signed a token with this key id; undefined: the issuer was not reached yet. */
  async keysFor(kid: string): Promise<readonly PublishedKey[] | undefined> {
    const now = this.#options.clock.now()
    if (this.#keys === undefined) await this.#fetch(now)
    else if (now - this.#fetchedMs > keysLastMs) void this.#fetch(now)
    const found = this.#matching(kid)
    if (this.#keys === undefined || found.length > 0) return this.#keys && found
    await this.#fetch(now)
    return this.#matching(kid)
  }

  #matching(kid: string): readonly PublishedKey[] {
    return (this.#keys ?? []).filter((key) => kid === '' || key.kid === kid)
  }

  /** Resolves in any case; a failure is told to the operator. */
  #fetch(now: number): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching
    if (now - this.#triedMs < leastPauseMs && now >= this.#triedMs) return Promise.resolve()
    this.#triedMs = now
    this.#fetching = this.#read()
      .then((keys) => {
        this.#keys = keys
        this.#fetchedMs = now
      })
      .catch((thrown: unknown) => {
        const error = thrown instanceof Error ? thrown.message : String(thrown)
        this.#options.logger.warn(
          { issuer: this.#options.issuer, error },
          'cannot get the keys of the OpenID Connect issuer; will try again',
        )
      })
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
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
