// What a page of the header gets.

import type { Route } from './route.js'

export interface PageProps {
  readonly route: Route
}
