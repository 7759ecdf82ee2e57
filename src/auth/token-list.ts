// Static bearer tokens: those of `--token-auth-file` and the administrator's own.

import { timingSafeEqual } from 'node:crypto'
import { authenticatedGroup, type User } from '../api/user.js'
import { meantHere, type TokenAuthenticator, type TokenDigests } from './bearer-tokens.js'

export interface TokenListOptions {
  readonly digests: TokenDigests
  /** By which names this server is meant. */
  readonly audiences: readonly string[]
}

export function tokenList(tokens: ReadonlyMap<string, User>, { digests, audiences: own }: TokenListOptions): TokenAuthenticator {
  const known = new Map<string, { readonly digest: Buffer; readonly user: User }>()
  for (const [token, user] of tokens) {
    const digest = digests.of(token)
    known.set(digest, { digest: Buffer.from(digest), user: { ...user, groups: withAuthenticated(user.groups) } })
  }
  return (token) => {
    const found = known.get(token.digest)
    if (found === undefined || !timingSafeEqual(found.digest, Buffer.from(token.digest))) return undefined
    const audiences = meantHere(own, token)
    return audiences && { user: found.user, audiences }
  }
}

/** Everybody who is known is a member. */
export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
