// Static bearer tokens: those of `--token-auth-file` and the administrator's own.
//
// A token is looked up by its hash under a key that only this process knows: how long a look-up takes says nothing about how much of a guess
// was right.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { authenticatedGroup, type User } from '../api/user.js'
import type { Authenticator } from './authenticate.js'

interface Known {
  readonly digest: Buffer
  readonly user: User
}

/** How much of a hash finds its entry; all of it is compared then. */
const placeLength = 16

export function tokenList(tokens: ReadonlyMap<string, User>): Authenticator {
  const key = randomBytes(32).toString('hex')
  const digestOf = (token: string): string => hash('sha256', key + token, 'base64')
  const known = new Map<string, Known>()
  for (const [token, user] of tokens) {
    const digest = digestOf(token)
    known.set(digest.slice(0, placeLength), { digest: Buffer.from(digest), user: { ...user, groups: withAuthenticated(user.groups) } })
  }
  return ({ bearerToken }) => {
    if (bearerToken === '') return undefined
    const digest = digestOf(bearerToken)
    const found = known.get(digest.slice(0, placeLength))
    return found !== undefined && timingSafeEqual(found.digest, Buffer.from(digest)) ? found.user : undefined
  }
}

const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
