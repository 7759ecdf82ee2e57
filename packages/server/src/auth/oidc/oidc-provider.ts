// Signing keys of an OIDC issuer: fetched with the first token, again after an hour, and when no key verifies a token; kept on failure.

import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { type VerifyingKey, verifyingKey } from '../tokens/jwt.js'

interface ProviderOptions {
  readonly issuer: string
  readonly get: (url: string) => Promise<string>
  readonly algorithms: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
}

interface PublishedKey extends VerifyingKey {
  readonly kid: string
}

/** Minimum time between two fetches by `keysFor`, and between two warnings. `fetchKeysFor` has no limit. */
const minRetryMs = 5000
/** Age from which cached keys are fetched again with the next token, so that withdrawn keys stop working. */
const keyCacheTtlMs = 3_600_000
const maxKeys = 64

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

  /** Cached keys with this key id, all if it is empty; undefined if the keys could never be fetched. */
  async keysFor(kid: string): Promise<readonly PublishedKey[] | undefined> {
    const now = this.#options.clock.now()
    const wasTriedRecently = now - this.#triedMs < minRetryMs && now >= this.#triedMs
    if (this.#keys === undefined) await (wasTriedRecently ? this.#fetching : this.#fetch(now))
    else if (now - this.#fetchedMs > keyCacheTtlMs && !wasTriedRecently) void this.#fetch(now)
    return this.#keys && this.#matching(kid)
  }

  /** Fetches the keys again, for a token that no cached key verifies. If the fetch fails, the cached keys stay. */
  async fetchKeysFor(kid: string): Promise<readonly PublishedKey[]> {
    await this.#fetch(this.#options.clock.now())
    return this.#matching(kid)
  }

  #matching(kid: string): readonly PublishedKey[] {
    return (this.#keys ?? []).filter((key) => kid === '' || key.kid === kid)
  }

  /** Never rejects; a failure is logged. */
  #fetch(now: number): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching
    this.#triedMs = now
    this.#fetching = this.#fetchKeys()
      .then((keys) => {
        this.#keys = keys
        this.#fetchedMs = now
      })
      .catch((thrown: unknown) => this.#warn(now, errorMessage(thrown)))
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
  }

  /** Limits the rate of warnings: forged tokens can trigger any number of fetches. */
  #warn(now: number, error: string): void {
    if (now - this.#warnedMs < minRetryMs && now >= this.#warnedMs) return
    this.#warnedMs = now
    const { logger, issuer } = this.#options
    logger.warn({ issuer, error }, 'cannot fetch the signing keys of the OIDC issuer; check --oidc-issuer-url and the network; retrying')
  }

  async #fetchKeys(): Promise<readonly PublishedKey[]> {
    const { issuer, get, algorithms } = this.#options
    const { issuer: claimedIssuer, jwks_uri: jwksUri } = readObject(
      await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`),
    )
    if (claimedIssuer !== issuer) throw new Error(`the discovery document names the issuer ${JSON.stringify(claimedIssuer)}`)
    if (typeof jwksUri !== 'string' || !jwksUri.startsWith('https://')) throw new Error('the discovery document has no https:// jwks_uri')
    const { keys } = readObject(await get(jwksUri))
    if (!Array.isArray(keys)) throw new Error('the JSON Web Key Set has no list of keys')
    const published: PublishedKey[] = []
    for (const value of keys.slice(0, maxKeys)) {
      const key = readKey(value, algorithms)
      if (key !== undefined) published.push(key)
      // Importing a key takes up to 1 ms.
      await turnBudget.yieldIfSpent()
    }
    return published
  }
}

type Fields = { readonly [name: string]: unknown }

function readObject(text: string): Fields {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error('the response is not a JSON object')
  return value as Fields
}

/** Returns undefined for keys whose `use` is not `sig`, and for keys that are invalid or of an unknown type. */
function readKey(value: unknown, acceptedAlgorithms: readonly string[]): PublishedKey | undefined {
  const { kid, use, kty, ...rest } = (value ?? {}) as Fields
  if (use !== undefined && use !== 'sig') return undefined
  try {
    const key = verifyingKey(createPublicKey({ key: { kty, ...rest } as JsonWebKey, format: 'jwk' }))
    const algorithms = key.algorithms.filter((algorithm) => acceptedAlgorithms.includes(algorithm))
    return { ...key, algorithms, kid: typeof kid === 'string' ? kid : '' }
  } catch {
    return undefined
  }
}
