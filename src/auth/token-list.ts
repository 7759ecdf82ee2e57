// Static bearer tokens: those of `--token-auth-file` and the administrator's own.

import { authenticatedGroup, type User } from '../api/user.js'
import type { Authenticator } from './authenticate.js'

export function tokenList(tokens: ReadonlyMap<string, User>): Authenticator {
  const users = new Map([...tokens].map(([token, user]) => [token, { ...user, groups: withAuthenticated(user.groups) }]))
  return ({ bearerToken }) => (bearerToken === '' ? undefined : users.get(bearerToken))
}

const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
