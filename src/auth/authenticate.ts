// Who are you: the authenticators in the order in which they are asked. The first that knows the credential decides.

import type { User } from '../api/user.js'

/** What an authenticator may look at. */
export interface Credentials {
  /** The token of an `Authorization: Bearer` header; empty without one. */
  readonly bearerToken: string
}

/** The user, or undefined when the credential is none of this authenticator's. */
export type Authenticator = (credentials: Credentials) => User | undefined | Promise<User | undefined>

/** Asks one after the other; synchronous as long as they are. */
export function authenticateWith(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
  from = 0,
): User | undefined | Promise<User | undefined> {
  for (let i = from; i < authenticators.length; i++) {
    const found = (authenticators[i] as Authenticator)(credentials)
    if (found instanceof Promise) return found.then((user) => user ?? authenticateWith(authenticators, credentials, i + 1))
    if (found !== undefined) return found
  }
  return undefined
}
