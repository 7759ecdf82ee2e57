// The routes of the control API, in the order of `GET /testkit/`.

import { clockRoutes } from './clock-routes.js'
import { faultRoutes } from './fault-routes.js'
import type { Route } from './route.js'
import { seenRoutes } from './seen-routes.js'
import { stateRoutes } from './state-routes.js'
import { webhookRoutes } from './webhook-routes.js'

const capabilities: readonly Route[] = [...faultRoutes, ...clockRoutes, ...seenRoutes, ...stateRoutes, ...webhookRoutes]

const index: Route = {
  method: 'GET',
  path: '/',
  summary: 'lists the endpoints',
  run: () => ({ endpoints: routes.map(({ method, path, summary }) => ({ method, path: `/testkit${path}`, summary })) }),
}

export const routes: readonly Route[] = [index, ...capabilities]
