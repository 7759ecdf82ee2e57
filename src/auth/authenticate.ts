// Who are you: the authenticators in the order in which they are asked. The first that knows the credential decides.

import type { User } from '../api/user.js'
import type { PeerCertificate } from '../net/peer-certificate.js'

/** What an authenticator may look at. Members are read from the connection when somebody asks for them. */
export interface Credentials {
  /** The token of an `Authorization: Bearer` header; empty without one. */
  readonly bearerToken: string
  /** Names and values in turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** What the client showed when it connected. */
  readonly certificate: PeerCertificate | undefined
  /** Empty where it is not known. */
  readonly remoteAddress: string
  /** What stands for the connection over which they came, as long as it lasts; left out: there is none. */
  readonly connection?: object | undefined
  /** Whom a token shall be meant for; undefined: this server. */
  readonly audiences?: readonly string[] | undefined
}

/** A token alone, as a review asks about it. */
export const tokenCredentials = (bearerToken: string, audiences?: readonly string[]): Credentials => ({
  bearerToken,
  rawHeaders: [],
  certificate: undefined,
  remoteAddress: '',
  audiences,
})

export interface Authenticated {
  readonly user: User
  /** Those of the audiences that were asked about for whom a token is meant; left out where tokens have none. */
  readonly audiences?: readonly string[]
  /** What the audit log shall say of every request with this credential. */
  readonly remark?: (annotate: (key: string, value: string) => void, now: number) => void
}

/** A credential that is no good: whoever shows one is not taken for anonymous. */
export interface Refused {
  readonly user?: undefined
  /** Why, for whoever may ask in a review; never told to the client. */
  readonly problems: readonly string[]
}

export type Found = Authenticated | Refused | undefined

/** Undefined when there is no credential of the authenticator's sort. */
export type Authenticator = (credentials: Credentials) => Found | Promise<Found>

/** Asks one after the other; synchronous as long as they are. */
export function authenticateWith(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
  from = 0,
  refused?: Refused,
): Found | Promise<Found> {
  let before = refused
  for (let i = from; i < authenticators.length; i++) {
    const found = (authenticators[i] as Authenticator)(credentials)
    if (found instanceof Promise) {
      const known = before
      return found.then((late) =>
        late?.user === undefined ? authenticateWith(authenticators, credentials, i + 1, together(known, late)) : late,
      )
    }
    if (found?.user !== undefined) return found
    before = together(before, found)
  }
  return before
}

function together(one: Refused | undefined, other: Refused | undefined): Refused | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { problems: [...one.problems, ...other.problems] }
}

/** Several reasons as the reference puts them into one sentence. */
export function problemText({ problems }: Refused): string {
  const distinct = [...new Set(problems)]
  return distinct.length === 1 ? distinct.join() : `[${distinct.join(', ')}]`
}
