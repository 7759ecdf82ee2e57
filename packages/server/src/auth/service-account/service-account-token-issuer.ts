// Issues service account tokens, and publishes the verification keys as a JSON Web Key Set.

import type { KeyObject } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { jsonWebKeySet, signClaims, type VerifyingKey } from '../tokens/jwt.js'
import { type BoundTokenSpec, boundClaims, type LegacyClaims, legacyClaims } from './service-account-claims.js'

interface IssuerOptions {
  readonly identity: Identity
  readonly issuers: readonly string[]
  readonly signingKey: KeyObject
  readonly keys: readonly VerifyingKey[]
  readonly audiences: readonly string[]
  /** Maximum lifetime of a token; 0: unlimited. */
  readonly maxSeconds: number
  /** `--service-account-extend-token-expiration`: tokens of pods live longer than requested, for clients that do not reload them. */
  readonly shouldExtendExpiration: boolean
}

export class TokenIssuer {
  readonly options: IssuerOptions
  #keySet: Promise<string> | undefined

  constructor(options: IssuerOptions) {
    this.options = options
  }

  get issuer(): string {
    return this.options.issuers[0] ?? ''
  }

  issue(spec: Omit<BoundTokenSpec, 'issuer'>): Promise<string> {
    const { identity, signingKey } = this.options
    return signClaims(boundClaims(identity, { ...spec, issuer: this.issuer }), signingKey)
  }

  issueForSecret(claims: LegacyClaims): Promise<string> {
    const { identity, signingKey } = this.options
    return signClaims(legacyClaims(identity, claims), signingKey)
  }

  keys(): Promise<string> {
    this.#keySet ??= jsonWebKeySet(this.options.keys)
    return this.#keySet
  }

  get algorithms(): readonly string[] {
    return [...new Set(this.options.keys.map(({ algorithms }) => algorithms[0] as string))]
  }
}
