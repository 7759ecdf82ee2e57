// Static bearer tokens: those of `--token-auth-file` and the administrator's own.

import { timingSafeEqual } from 'node:crypto'
import { authenticatedGroup, type User } from '../api/user.js'
import { meantHere, type TokenAuthenticator, type TokenDigests } from './bearer-tokens.js'

export interface TokenListOptions {
  readonly digests: TokenDigests
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
}

export class TokenList {
  readonly #options: TokenListOptions
  readonly #known = new Map<string, { readonly digest: Buffer; readonly user: User }>()

  constructor(tokens: ReadonlyMap<string, User>, options: TokenListOptions) {
    this.#options = options
    for (const [token, user] of tokens) this.add(token, user)
  }

  /** From now on it is believed. */
  add(token: string, user: User): void {
    const digest = this.#options.digests.of(token)
    this.#known.set(digest, { digest: Buffer.from(digest), user: { ...user, groups: withAuthenticated(user.groups) } })
  }

  readonly authenticate: TokenAuthenticator = (token) => {
    const found = this.#known.get(token.digest)
    if (found === undefined || !timingSafeEqual(found.digest, Buffer.from(token.digest))) return undefined
    const audiences = meantHere(this.#options.audiences, token)
    return audiences && { user: found.user, audiences }
  }
}

/** Everybody who is known is a member. */
export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
