// The authentication filter: finds the user of a request, or refuses it with 401.

import { unauthorized } from '@cluster-apiserver/api/api/api-error.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import {
  type AttemptResult,
  type AuthenticationCounters,
  type AuthenticationResult,
  type Authenticator,
  authenticateWith,
} from '../../auth/authenticate.js'
import { setOwner } from '../../net/listen/fair-request-queue.js'
import type { Filter } from '../pipeline/filter.js'

interface Authentication {
  readonly authenticators: readonly Authenticator[]
  /** The user of requests without credentials; undefined: they are refused with 401. */
  readonly anonymous: User | undefined
  readonly counters?: AuthenticationCounters | undefined
}

/** Owner of connections with invalid credentials, so that they do not queue with connections not authenticated yet. */
const unauthenticatedOwner = 'system:unauthenticated'

export function authentication({ authenticators, anonymous, counters }: Authentication): Filter {
  return async (exchange) => {
    const found = await authenticateWith(authenticators, exchange)
    const user = found === undefined ? anonymous : found.user
    counters?.count(resultOf(found, user), performance.now() - exchange.begunMs, user?.name ?? '')
    const { connection } = exchange
    if (connection !== undefined) setOwner(connection, user?.name ?? unauthenticatedOwner)
    if (user === undefined) throw unauthorized()
    exchange.user = user
    if (found?.user !== undefined) found.onRequest?.(exchange.annotate, exchange.now)
    exchange.lifecycle.notify('authenticated', exchange)
    return false
  }
}

/** The `result` label: invalid credentials are an error, missing ones a failure. */
const resultOf = (found: AuthenticationResult, user: User | undefined): AttemptResult =>
  user !== undefined ? 'success' : found === undefined ? 'failure' : 'error'
