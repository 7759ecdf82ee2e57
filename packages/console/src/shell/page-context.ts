// What a page gets: the session, its address, and the signal that ends it.

import type { Session } from '../session/session.js'
import type { Route } from './route.js'

export interface PageContext {
  readonly session: Session
  readonly route: Route
  readonly signal: AbortSignal
}
