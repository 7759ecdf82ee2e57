// Authenticators in their order, the result of authentication, and its metrics. The first authenticator that accepts a credential decides.

import type { User } from '@cluster-apiserver/api/api/user.js'
import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { PeerCertificate } from '../net/tls/peer-certificate.js'

/** Input of authenticators. Members may be getters that read the connection lazily. */
export interface Credentials {
  /** Bytes of the token as Latin-1, as in a header. */
  readonly bearerToken: string
  /** Header names and values alternating, as received. */
  readonly rawHeaders: readonly string[]
  readonly certificate: PeerCertificate | undefined
  readonly remoteAddress: string
  /** Key of the connection for weak maps; undefined if the credentials come from a review. */
  readonly connection?: object | undefined
  /** Audiences that the token must have; undefined: this server's own. */
  readonly audiences?: readonly string[] | undefined
}

export const tokenBytes = (token: string): string => Buffer.from(token, 'utf8').toString('latin1')

export const tokenCredentials = (token: string, audiences?: readonly string[]): Credentials => ({
  bearerToken: tokenBytes(token),
  rawHeaders: [],
  certificate: undefined,
  remoteAddress: '',
  audiences,
})

export interface Authenticated {
  readonly user: User
  readonly audiences?: readonly string[]
  /** Called with every request that uses the credential: adds audit annotations and counts. */
  readonly onRequest?: (annotate: (key: string, value: string) => void, now: number) => void
}

/** Rejected credential: unless another authenticator accepts one, the request gets 401 and is not treated as anonymous. */
export interface Refused {
  readonly user?: undefined
  /** Shown in the status of a TokenReview; the client gets only 401. */
  readonly problems: readonly string[]
}

export type AuthenticationResult = Authenticated | Refused | undefined

/** Returns undefined if the request has no credential of the authenticator's type. */
export type Authenticator = (credentials: Credentials) => AuthenticationResult | Promise<AuthenticationResult>

export async function authenticateWith(authenticators: readonly Authenticator[], credentials: Credentials): Promise<AuthenticationResult> {
  let refused: Refused | undefined
  for (const authenticate of authenticators) {
    const result = authenticate(credentials)
    const found = result instanceof Promise ? await result : result
    if (found?.user !== undefined) return found
    refused = mergeProblems(refused, found)
  }
  return refused
}

function mergeProblems(first: Refused | undefined, second: Refused | undefined): Refused | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return { problems: [...first.problems, ...second.problems] }
}

export function problemText({ problems }: Refused): string {
  const distinct = [...new Set(problems)]
  return distinct.length === 1 ? distinct.join() : `[${distinct.join(', ')}]`
}

export type AttemptResult = 'success' | 'failure' | 'error'

const doubling = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => first * 2 ** i)
const attemptBounds = doubling(0.001, 15)
const cacheBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const minute = 60
const hour = 60 * minute
const day = 24 * hour
const expiryBounds = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
]

/** Values of the `username` label; other users are counted as `email_id` or `other` to bound the number of series. */
const countedNames: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy', 'kubelet'])

export class AuthenticationCounters {
  readonly attempts = {
    success: new Histogram(attemptBounds),
    failure: new Histogram(attemptBounds),
    error: new Histogram(attemptBounds),
  }
  readonly users = new Map<string, number>()
  readonly tokens = {
    hit: new Histogram(cacheBounds),
    miss: new Histogram(cacheBounds),
    ok: 0,
    error: 0,
    inFlight: 0,
    blocked: 0,
  }
  /** Remaining lifetime of client certificates, in seconds. */
  readonly certificates = new Histogram(expiryBounds)
  readonly accounts = { legacy: 0, stale: 0, valid: 0 }

  count(result: AttemptResult, ms: number, userName: string): void {
    this.attempts[result].add(ms / 1000)
    if (result !== 'success') return
    const name = countedNames.has(userName) ? userName : userName.includes('@') ? 'email_id' : 'other'
    this.users.set(name, (this.users.get(name) ?? 0) + 1)
  }
}
