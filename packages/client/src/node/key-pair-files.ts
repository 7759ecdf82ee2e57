// A certificate and its key, which somebody else may renew one after the other: read together, and as they were until they belong together again.

import { createSecureContext } from 'node:tls'
import { CredentialError } from '../errors.js'
import type { Credential } from '../transport.js'

export type KeyPair = NonNullable<Credential['certificate']>

/** After this time they are read again. */
const lastsMs = 60_000
/** While only one of them is new, the other one is about to come. */
const halfwayMs = 1000

/** Why TLS cannot use them; undefined where it can. */
export function problemOfPair(pair: KeyPair): string | undefined {
  try {
    // Without authorities, which would be read for nothing.
    createSecureContext({ ...pair, ca: [] })
    return undefined
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH')
      return 'the key belongs to another certificate'
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

export interface PairSources {
  /** Both throw where they cannot be read. */
  cert(): string
  key(): string
  /** For messages. */
  readonly where: string
  /** Milliseconds since whenever. */
  readonly now?: () => number
}

export class FollowedPair {
  private readonly sources: PairSources
  private readonly now: () => number
  private pair: KeyPair | undefined
  private againAtMs = Number.NEGATIVE_INFINITY

  constructor(sources: PairSources) {
    this.sources = sources
    this.now = sources.now ?? (() => performance.now())
  }

  /** The same value as long as nothing has changed. */
  current(): KeyPair {
    const { pair } = this
    return pair !== undefined && this.now() < this.againAtMs ? pair : this.renew()
  }

  private renew(): KeyPair {
    const { pair: known } = this
    try {
      this.pair = this.read(known)
      this.againAtMs = this.now() + lastsMs
      return this.pair
    } catch (thrown) {
      if (known === undefined) throw thrown
      // They are being replaced.
      this.againAtMs = this.now() + halfwayMs
      return known
    }
  }

  private read(known: KeyPair | undefined): KeyPair {
    const { sources } = this
    const pair = { cert: sources.cert(), key: sources.key() }
    if (known !== undefined && pair.cert === known.cert && pair.key === known.key) return known
    const problem = problemOfPair(pair)
    if (problem !== undefined) throw new CredentialError(`${sources.where}: client-certificate and client-key cannot be used: ${problem}`)
    return pair
  }
}
