// Issues tokens of service accounts, and says by which keys the tokens of this server are known.

import type { KeyObject } from 'node:crypto'
import type { Identity } from '../api/identity.js'
import { publishedKeys, signClaims, type VerifyingKey } from './jwt.js'
import { boundClaims, type LegacyClaims, secretClaims, type TokenWish } from './service-account-claims.js'

export interface IssuerOptions {
  readonly identity: Identity
  /** The first one signs. */
  readonly issuers: readonly string[]
  readonly signingKey: KeyObject
  /** All that tokens are believed by. */
  readonly keys: readonly VerifyingKey[]
  /** Whom tokens are meant for that name nobody. */
  readonly audiences: readonly string[]
  /** 0: any length. */
  readonly maxSeconds: number
  /** Whether tokens of pods live longer than they say, while their programs learn to renew them. */
  readonly extends: boolean
}

export class TokenIssuer {
  readonly options: IssuerOptions
  #published: Promise<string> | undefined

  constructor(options: IssuerOptions) {
    this.options = options
  }

  get issuer(): string {
    return this.options.issuers[0] ?? ''
  }

  issue(wish: Omit<TokenWish, 'issuer'>): Promise<string> {
    const { identity, signingKey } = this.options
    return signClaims(boundClaims(identity, { ...wish, issuer: this.issuer }), signingKey)
  }

  /** For a secret, without an end. */
  issueForSecret(claims: LegacyClaims): Promise<string> {
    const { identity, signingKey } = this.options
    return signClaims(secretClaims(identity, claims), signingKey)
  }

  /** As JSON; made once. */
  keys(): Promise<string> {
    this.#published ??= publishedKeys(this.options.keys)
    return this.#published
  }

  get algorithms(): readonly string[] {
    return [...new Set(this.options.keys.map(({ algorithms }) => algorithms[0] as string))]
  }
}
