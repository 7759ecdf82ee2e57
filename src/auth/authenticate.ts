// Who are you: the authenticators in the order in which they are asked. The first that knows the credential decides.

import type { X509Certificate } from 'node:crypto'
import type { User } from '../api/user.js'

/** What an authenticator may look at. Members are read from the connection when somebody asks for them. */
export interface Credentials {
  /** The token of an `Authorization: Bearer` header; empty without one. */
  readonly bearerToken: string
  /** By their names in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** What the client showed when it connected. */
  readonly certificate: ClientCertificate | undefined
  /** Empty where it is not known. */
  readonly remoteAddress: string
}

export interface ClientCertificate {
  readonly x509: X509Certificate
  /** Whether it was signed by an authority of `--client-ca-file`, and holds now. */
  readonly isTrusted: boolean
}

/** A token alone, as a review asks about it. */
export const tokenCredentials = (bearerToken: string): Credentials => ({
  bearerToken,
  headers: {},
  certificate: undefined,
  remoteAddress: '',
})

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
