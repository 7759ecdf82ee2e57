// Static bearer tokens: `--token-auth-file`, and the administrator's token of this server.

import { timingSafeEqual } from 'node:crypto'
import { authenticatedGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { tokenBytes } from '../authenticate.js'
import { matchingAudiences, type TokenAuthenticator, type TokenDigests } from './bearer-tokens.js'

interface StaticTokenOptions {
  readonly digests: TokenDigests
  readonly audiences: readonly string[]
}

export class StaticTokens {
  readonly #options: StaticTokenOptions
  readonly #usersByDigest = new Map<string, { readonly digest: Buffer; readonly user: User }>()

  constructor(tokens: ReadonlyMap<string, User>, options: StaticTokenOptions) {
    this.#options = options
    for (const [token, user] of tokens) this.add(token, user)
  }

  add(token: string, user: User): void {
    const digest = this.#options.digests.digestOf(tokenBytes(token))
    this.#usersByDigest.set(digest, { digest: Buffer.from(digest), user: { ...user, groups: withAuthenticated(user.groups) } })
  }

  readonly authenticate: TokenAuthenticator = async (token) => {
    const found = this.#usersByDigest.get(token.digest)
    if (found === undefined || !timingSafeEqual(found.digest, Buffer.from(token.digest))) return undefined
    const audiences = matchingAudiences(this.#options.audiences, token)
    return audiences && { user: found.user, audiences }
  }
}

export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
